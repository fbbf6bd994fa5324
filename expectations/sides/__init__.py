"""The two sides of an audit: the engine's rows and plain Spark's.

- engine: The engine's side of an audit: its answers, read from the files that a manifest names.
- plain_spark: The naive recomputation: the user's own statement, on plain Spark, over the raw events.
- row: The shape both sides of an audit have: one row per query, key and window, whatever the type of the answer.
- row_windows: Both sides of windows in rows.
"""
