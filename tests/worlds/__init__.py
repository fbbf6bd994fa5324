"""Small worlds that tests run in: events, a catalog over them, a warehouse, a platform.

- streams: odd events, everything an answer may trip over, and random arrivals of them.
- warehouse: the one builder: a stream's folder, its files of events, its catalog.
- audited: a stream whose late events miss windows, evaluated without Spark, batch by batch.
- readings: a stream that faults are tried on, and ways to compare its warehouses.
- store: a stream of readings on a store that is no disk; bucket: on S3 (bucket_server); name_node: on HDFS, by a way
  that may be unsteady.
- sinks: a stream with sinks, and the tables of every format read back as plain rows.
- tables: a Delta or Iceberg table of events, and the stream of a catalog that reads it.
- platform: settings, a small catalog, plans of it and runs as MLflow has them.
- busy_platform: a platform that has run for a while: audits, a quarantine, plans and runs.
"""
