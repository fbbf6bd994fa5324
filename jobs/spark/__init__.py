"""The engine on Spark.

- choose_lane: The two lanes events come in by: files read by the tasks themselves, or any DataFrame Spark can make.
- class_archive: Spark's classes as Java has them in memory, kept in a file.
- executor: Runs a batch on Spark: feed tasks, Spark's shuffle by bucket, one task per bucket, what plain Spark adds.
- feed_tasks: The feed tasks of a batch on Spark: those that read files, and batches of the past.
- frame_lane: The frame lane: events of any DataFrame, aggregated by Spark itself where that is exact and pays.
- result_frame: Result files as Spark frames, as they are written or with the columns of a statement's SQL.
- session: The SparkSession every job starts from, and Spark's errors in the words of the person who can mend them.
- stream_frames: A stream's events as a DataFrame: files and tables by Spark's own reader, and the SQL of a stream.
- task_partials: The half of Spark's aggregation that is before its shuffle.
- unshared: The unshared lane: queries that cannot be woven run on plain Spark.
- worker_daemon: The process that Spark's Python workers are forked from: it has imported the engine.
"""
