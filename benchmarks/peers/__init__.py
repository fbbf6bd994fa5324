"""What a team would run instead of Heddle, on the same events and queries; and Heddle beside itself.

- ablations: One idea off at a time: CPU seconds of the same answers with the idea, and without it.
- engines: CPU seconds by number of queries: Spark, Flink, DuckDB, pandas, polars, Heddle, and one scan of the events.
- flink: Flink SQL on the same events, in an environment of its own.
- flink_job: What runs in that environment.
- libraries: polars, pandas and DuckDB at their best.
- scaling: How Heddle's CPU grows with events, keys, queries, overlap and batches.
"""
