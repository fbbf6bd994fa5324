"""What a team would run instead of Heddle, on the same events and queries.

- engines: CPU seconds by number of queries: plain Spark, DuckDB, polars, Heddle, and one scan of the events.
"""
