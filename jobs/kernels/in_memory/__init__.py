"""Answers over one column in memory: `sliding`.

- column: The column of `sliding`: the numbers that kernels take, its nulls, how answers get its type back.
- sliding: Sliding answers of one in-memory column: one event a tick, only full windows, an array per window.
"""
