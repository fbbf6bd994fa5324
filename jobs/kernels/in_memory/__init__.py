"""Answers over one column in memory: `sliding`.

- arguments: What sliding is asked for, checked: a user's mistake becomes one line that says what would be right.
- by_technique: One in-memory column through a technique as its paper writes it.
- column: What sliding is given: a column that kernels take, which of it is null.
- components: The components an aggregate needs of one in-memory column, one event a slice.
- sliding: Sliding answers of one in-memory column: one event a tick, only full windows, an array per window.
"""
