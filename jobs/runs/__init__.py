"""A run over a stream's warehouse.

- backfill: A past interval computed anew: into a warehouse of its own, or in place of quarantined batches.
- compare: The same events under several strategies and techniques.
- due_batches: Batches of files that are listed once: Structured Streaming finds a mark for each that is due.
- frames: Queries over a table in memory or a Spark DataFrame: planned by its own events, answered at once.
- in_process: The same evaluation in one process, without Spark: for small streams, and to see what Spark costs.
- lanes: Which lane every query of a stream takes, and why; and the executors of both lanes on Spark.
- log_batches: Batches of a source with a log: first one that died, then what its log has added since.
- on_spark: The evaluation's loop on Structured Streaming, and a catalog that changes while it goes on.
- report: What a run has to say beside its numbers, a line each.
- request: What a run is to do: which stream, by which plan, on Spark or in this process.
- run: A run over a stream's warehouse, on Spark or without: opened, advanced batch by batch, closed, swept.
- calibrate: What things cost on this machine, fitted to small trials.
"""
