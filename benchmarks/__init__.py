"""What Heddle is measured by. `make bench` lists these, `make bench NAME=engine ARGS="--help"` runs one.

- aggregates: Distinct counts, medians and percentiles over sliding windows, shared, against native Spark.
- audits: What an audit costs beside evaluating the same micro-batch, and a whole scheduled cycle, in CPU seconds.
- catalog: How long a catalog takes to load, beside what readers of the file formats take for the same bytes.
- catalogs: What expressions cost: the example catalog against a scan, odd expressions added to a catalog.
- churn: Queries that join and leave a running plan: how far it strays from a build, and what a change takes.
- cliffs: What must not grow: the price of a row with the keys, of a measure with the measures, of events with files.
- covers: Whether a query would save by reading the windows of another instead of slices, in the engine.
- edge_rates: How much quicker divisor masks count edges than marking bits or F1 does.
- engine: The engine against a scan by plain Spark, against native Spark and against polars, in CPU seconds.
- estimates: How far estimated CPU seconds are from measured ones, for techniques, strategies and catalogs.
- exactness: Random catalogs on Spark against `spark.sql` of the user's own text, row by row, in both lanes.
- faults: Runs whose driver, JVM or Python worker is killed at every step, against runs without a fault.
- generate: Generating events against writing them, in CPU seconds.
- kernels: The columnar kernels against one memory pass and against the libraries a user would take instead.
- language: Random expressions over odd values, evaluated on columns, against Spark's own answers.
- omega_errors: How far every Omega is from the operations that a technique really needs.
- optimizer: How planning scales with the number of queries, and how much cascades save.
- optimality: How far every strategy is from the best plan there is, in both currencies.
- planning: How long planning takes in both currencies, and how good weave_share is beside simpler searches.
- real: Real events from anywhere: answers against plain Spark's, estimated and measured CPU seconds.
- regret: CPU seconds of the plan that is chosen over those of the fastest plan any strategy found.
- rewriting: Rewritten statements against the originals on plain Spark, in CPU seconds.
- sharing: Shared against unshared and paired against paned slices, on the trades workloads A, B and C.
- sinks: What delivering a batch to a sink adds to evaluating it, in CPU and wall seconds.
- sources: `heddle.run` on a pandas frame against pandas, polars and DuckDB, in CPU seconds, answers compared.
- steady: What a steady micro-batch costs, whatever the ranges: batch after batch in this process, in CPU seconds.
- tables: A Delta and an Iceberg stream against a folder of the very same Parquet files, in CPU seconds.
- topics: Landing a topic of a real Kafka broker and evaluating it against Spark's own copy of it, in CPU seconds.

Their parts:

- evidence: `make evidence`: what the papers report and what peers take beside ours, as docs/evidence.md.
- papers: The papers' experiments, a module each, and their figures as data.
- peers: What a team would run instead, on the same events and queries.
- engine_batches: The price of a micro-batch in a stream that never ends, and of more events and more queries.
- engine_peers: What a careful user would run instead of the engine: polars on pre-aggregates made by hand.
- engine_world: What the engine's benchmarks share: events, queries, runs of the engine, and a warm meter.
- frame_lane: The frame lane in a process of its own, with a JVM that compiles its code as for a long stream.
- kernel_peers: What a user would take instead of the kernels: numba loops and the libraries of requirements.txt.
- plain_spark: Spark as its users start it, in a process of its own: a scan, and its own sliding windows.
- verdict: What a benchmark ends with: every bound, what was measured, and whether it holds.
"""
