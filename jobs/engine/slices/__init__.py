"""Slices: partials by key and slice, what is shared between them, and how they travel.

- cells: Cells: the (key, slice) pairs that occur, numbered key by key and in slice order.
- exchange: Exchange: partials go to the bucket of their key, packed as bytes.
- roll_up: Roll-up: partials of a coarser grouping are folded from a finer one's; and what a feed takes, counted.
- shards: Shards: partials per key, slice and signature, and unfolding them into the partials of each predicate.
- slices: The slices of one tree: for every key, in slice order, the partials of all its measures side by side.
- tallies: Tallies as columns: for every slice two lists, its values (or registers) in order and a number for each.
"""
