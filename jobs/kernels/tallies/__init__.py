"""Tallies: what a slice holds as sorted codes with a number each, or the counts of its values.

- last_slices: Distinct counts of windows of many ranges, in one pass over the last slices of the values.
- merge: Entries of cells become tallies: sorted, and one for equal codes.
- registers: HyperLogLog++ of windows: hashes of values, registers merged by their maximum, and Spark's estimate.
- values: Value counts of windows: how often every value stands in a window, kept while it moves over its slices.
"""
