"""Where published answers are wanted: tables that other engines read, one per statement, each batch exactly once.

- contract: What a sink is given, what it promises, and how it says that it is down.
- deliver: Deliver what has been published to the sinks of a stream, in order, and raise its alerts.
- alerts: Alerts: published rows that pass the condition of their query, kept in the warehouse and handed out once.
- parquet: A folder of Parquet files; a manifest file makes a batch exist.
- delta: Delta tables; the transaction (app id, publication) makes a batch exist once.
- iceberg: Iceberg tables; a property of the snapshot makes a batch exist once.
- sql: Tables of a database, by SQLAlchemy; an upsert and a table of batches in one transaction.
"""

SINKS = {  # by format: the module whose open_sink opens it; imported when a stream has one
    "parquet": "jobs.sinks.parquet",
    "delta": "jobs.sinks.delta",
    "iceberg": "jobs.sinks.iceberg",
    "sql": "jobs.sinks.sql",
}
