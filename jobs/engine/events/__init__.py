"""Events: columns of Parquet files, keys, values and predicates.

- arrow: Arrow tables: whole columns, and several tables in one stream, each with its label.
- columns: A batch of events as the columns the fold needs: times, keys, values with their nulls, predicates.
- decimal_words: Decimals without their point, as Arrow keeps them: whole numbers of 128 bits, of two words each.
- expressions: Evaluates an expression on Arrow columns where that gives exactly what Spark gives.
- file_constants: File constants: columns whose value is one for a whole file, from its folders or from its table.
- file_types: The types of a stream's expressions and columns, as the schema of one of its Parquet files gives them.
- keys: Group-by keys as numbers: a code per row, and the distinct keys the codes stand for.
- language: The operators and functions of expressions, on columns, with Spark's values, nulls and refusals.
- parquet: The file lane: Parquet files are read by the tasks themselves, only the columns needed.
- predicate_index: Predicate index: many predicates on one column, answered by one search of every event.
- signatures: Signatures: which predicates an event passes, one bit each. Those that occur are numbered.
- zones: Time zones: how far clocks are ahead of UTC at any instant, and which instant a clock shows, by Java's rules.
"""
