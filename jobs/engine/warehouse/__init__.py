"""The files of a stream's warehouse: manifests, state, results, late events, and who consumed which input.

- consumed_files: Which input files the committed batches took, and their raw events while the files are there.
- late_files: The late table: every event that some window missed, with the number of windows that did.
- ledger: The ledger: once a stream has one, the results of a batch are unpublished until an audit enters them here.
- lifecycle: A stream's warehouse: opened by one run at a time, and swept of what crashed runs left behind.
- manifest: Manifests: a batch exists when its manifest does. Each names every live file, and has a mark per batch.
- outbox: What has been published, in order, for those who want it exactly once: sinks and alerts.
- read_answers: A statement's answers as an Arrow table with the columns of its SQL, without Spark.
- result_files: Result files: the answers of one bucket and grouping, all queries together.
- retained: What the retained slices of each tree hold, and from when on each query is answered.
- revisions: Rows of emitted windows that were answered once more; of each row, readers want the newest.
- state_files: The retained slices of a bucket, as a base and the deltas that later batches added.
- statements: Statements that a warehouse has evaluated, and the published files that hold their answers.
"""
