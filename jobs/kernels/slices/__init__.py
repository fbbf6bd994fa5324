"""Kernels that make and combine slices.

- accumulate: Folds a column of events into the rows of their cells (one cell per key and slice).
- combine: Rows of partials: those of the same key and slice are combined.
- edges: Which slice an event falls into: the last edge of the tree at or before its time.
- levels: A level: the slices of a coarser tree as runs of a finer tree's slices.
"""
