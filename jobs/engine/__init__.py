"""Events to partials, partials to finals, and the commit between: everything a micro-batch does, without Spark.

- work: The contract between the driver and its tasks: what a task is told, and what it reports.
- batch: A micro-batch from its input files to its manifest, and a plan that takes over from another.
- events: Events: columns of Parquet files, keys, values and predicates.
- feed: The feed: events become partials.
- finals: Finals: retained slices become the answers of the windows that end.
- program: The program: a catalog and a plan compiled into what every task needs.
- slices: Slices: partials by key and slice, what is shared between them, and how they travel.
- sources: Sources: where the events of a stream are, which of their files are new, and how files hold columns.
- warehouse: The files of a stream's warehouse: manifests, state, results, late events, and who took which input.
"""
