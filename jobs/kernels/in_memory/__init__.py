"""Answers over one column in memory: `sliding`.

- arguments: The arguments of `sliding`, parsed: a user's mistake becomes one line that says what would be right.
- column: The column of `sliding`: the numbers that kernels take, its nulls, and how answers get its type back.
- components: The inputs of the components that an aggregate needs of one in-memory column, one event a slice.
- sliding: Sliding answers of one in-memory column: one event a tick, only full windows, an array per window.
"""
