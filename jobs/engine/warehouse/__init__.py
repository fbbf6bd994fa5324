"""The files of a stream's warehouse: manifests, state, results, late events, and who consumed which input.

- consumed_files: Which input files the committed batches took, and their raw events while the files are there.
- ledger: The ledger: once a stream has one, the results of a batch are unpublished until an audit enters them here.
- lifecycle: A stream's warehouse: opened by one run at a time, and swept of what crashed runs left behind.
- manifest: Manifests: a batch exists when its manifest does. Each names every live file, and has a mark per batch.
- outbox: What has been published, in order, for those who want it exactly once: sinks and alerts.
- read_answers: A statement's answers as an Arrow table with the columns of its SQL, without Spark.
- result_files: Result files: the answers of one bucket and grouping, all queries together, revisions, late table.
- state_files: The retained slices of a bucket, file by file, and what each tree retains between batches.
- statements: Statements that a warehouse has evaluated, and the published files that hold their answers.
"""
