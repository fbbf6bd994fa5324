"""What aggregates and techniques are, as data.

- aggregates: Every aggregate a query may ask for, with its algebra as data.
- techniques: The incremental techniques: one card each, as data, read by the cost models, the kernels and the docs.
"""
