"""Kernels that make and combine slices.

- accumulate: Fold events into the rows of their cells, and combine the rows of one key and slice.
- edges: Which slice an event falls into, and the slices of a coarser tree as runs of finer ones.
"""
