"""The files of a stream's warehouse: manifests, state, results, late events, and who took which input.

- arrow_files: Several Arrow tables in one file or one blob: one stream after another, each with its label.
- consumed_files: Which files of a stream the committed batches have taken.
- input_files: Which files a run without Spark has taken: one record per batch, written before the batch.
- late_files: The late table: every event that some window missed, with the number of windows that did.
- ledger: The ledger: once a stream has one, the results of a batch are unpublished until an audit enters them here.
- lifecycle: A stream's warehouse: opened by one run at a time, and swept of what crashed runs left behind.
- manifest: Manifests: a batch exists when its manifest does. Each names every live file.
- marks: Marks: how far event time and the watermark had come after each batch.
- raw_events: The raw events that have been evaluated.
- read_answers: A statement's answers as an Arrow table with the columns of its SQL, without Spark.
- result_files: Result files: the answers of one bucket and grouping, all queries together.
- retained: Between batches: what the retained slices of a warehouse hold, and from when on each query is answered.
- statements: Statements of a catalog that a warehouse has evaluated, and the published files that hold their answers.
- state_files: State: the retained slices of a bucket, as a base and the deltas that later batches added.
"""
