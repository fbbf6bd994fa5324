"""The types Spark gives to columns, expressions and answers.

- numbers: Spark's arithmetic on types, with spark.sql.ansi.enabled as it ships (on).
- parquet: The columns of a stream and their Spark types, read from its Parquet files and their folders.
- results: Spark's result types, derived without Spark: of expressions, and of the aggregates over them.
"""
