"""What the user wrote (YAML, Spark SQL, bulk files), understood: typed streams and queries, or one clear error.

- model: A catalog as typed data.
- read: A catalog read from files.
- spark_types: The types Spark gives to columns, expressions and answers.
- sql: Texts of SQL: expressions, names, durations, what is allowed.
- write: A catalog written back: as text, or one query added to its folder or removed.
"""
