"""A micro-batch from its input files to its manifest, and a plan that takes over from another.

- adopt: A new plan takes over between two batches: slices carry on or are rebuilt, and one manifest makes it so.
- adopt_task: What one task does for its bucket when a new plan takes over.
- carry: Which trees of a new plan carry on with the retained slices, and which need the raw events again.
- in_process: Runs a batch in this process, without Spark: for tests, small streams, and to see what Spark costs.
- recompute: Windows of the past, evaluated again: in a warehouse of their own, or in place of what a batch emitted.
- run_batch: One micro-batch: give out the work, gather the reports, commit one manifest.
"""
