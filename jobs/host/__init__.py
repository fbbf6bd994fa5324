"""This machine: settings, storage, Java, signals.

- cache: Where compiled kernels are kept: a private folder, named after the code that was compiled.
- command_line: One typer signature per job, shared by the `heddle` command and by the job that spark-submit runs.
- connectors: Connectors: Spark's own jars for other stores, named and pinned here, fetched once, checked.
- hdfs: HDFS as a file system of pyarrow, by a client that needs no Java.
- machine: This machine as far as speed goes: its fingerprint, and a meter of CPU seconds.
- memory: Keep freed memory for the next array, so that it need not be cleared by the system once more.
- say: What a run says: to its user, and to whoever HEDDLE_ALERTS names.
- settings: Where the platform keeps things: one place for DAGs, commands and pages, read from the environment.
- spark_runtime: What Spark runs on here: a Java, and the Python code of its package.
- stops: How a process ends early: by a signal after the batch in hand, or by a test at any step.
- storage: Small files and folders of a warehouse, on a local disk, on HDFS, on S3.
"""
