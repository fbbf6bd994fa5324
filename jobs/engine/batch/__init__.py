"""A micro-batch from its input files to its manifest, and a plan that takes over from another.

- adopt: A new plan takes over between two batches: slices carry on or are rebuilt, and one manifest makes it so.
- carry: What the slices of a plan hold, and which trees of a new plan can carry on with the slices of the old one.
- in_memory: Answers without a batch: all windows of a table in memory, laid out as the rows of a statement.
- run_batch: One micro-batch: work, reports, one manifest; corrections by late events; windows of the past anew.
"""
