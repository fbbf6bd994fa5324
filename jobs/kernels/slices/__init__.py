"""Kernels that make and combine slices.

- accumulate: Fold a column of events into the rows of their cells (one cell per key and slice).
- combine: Combine the rows of partials that have the same key and slice.
- edges: Which slice an event falls into, and the slices of a coarser tree as runs of finer ones.
"""
