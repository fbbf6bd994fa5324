"""The types Spark gives to columns, expressions and answers.

- folder_columns: Columns that folders name (day=2024-01-31/): their values, and the types that Spark infers.
- numbers: Spark's arithmetic on types, with spark.sql.ansi.enabled as it ships (on).
- parquet: The columns of a stream and their Spark types, read from its Parquet files without Spark.
- results: Spark's result types, derived without Spark: of expressions, and of the aggregates over them.
"""
