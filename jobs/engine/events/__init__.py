"""Events: columns of Parquet files, keys, values and predicates.

- arrow: Arrow's memory: whole columns, decimals as two words each, and several labelled tables in one stream.
- columns: A batch of events as the columns the fold needs: times, keys, values with their nulls, predicates.
- expressions: Evaluates an expression on Arrow columns where that gives exactly what Spark gives.
- file_types: The types of a stream's expressions and columns, as the schema of one of its Parquet files gives them.
- keys: Keys and signatures (which predicates an event passes) as numbers: a code per row, and what it stands for.
- language: The operators and functions of expressions, on columns, with Spark's values, nulls and refusals.
- parquet: The file lane: Parquet files are read by the tasks themselves, only the columns needed.
- parquet_file: One Parquet file: opened, and its columns as Spark sees them, with those of its folder or table.
- predicate_index: Predicate index: many predicates on one column, answered by one search of every event.
"""
