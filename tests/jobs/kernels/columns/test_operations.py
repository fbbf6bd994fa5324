"""Operations of the block form: its bounds tell exactly what a two-stacks that counts does."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.kernels.columns.fold_bounds import count_operations


class Counted:
    """Adds numbers, and counts how often."""

    def __init__(self) -> None:
        self.operations = 0

    def join(self, a: int | None, b: int | None) -> int | None:
        if a is None or b is None:
            return b if a is None else a
        self.operations += 1
        return a + b


def two_stacks(values: list[int], windows: list[tuple[int, int]]) -> tuple[list[int | None], int]:
    """The answers by two stacks that flip when the back one is empty; and the operations."""
    counted = Counted()
    back: list[int | None] = []
    front: int | None = None
    out: list[int | None] = []
    start = end = 0
    for low, high in windows:
        back, start = back[low - start :], low
        if not back:
            front, end = None, high
            for value in reversed(values[low:high]):
                back.insert(0, counted.join(value, back[0] if back else None))
        while end < high:
            front = counted.join(front, values[end])
            end += 1
        out.append(counted.join(back[0], front))
    return out, counted.operations


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40))
def test_block_operations(steps: list[tuple[int, int]]) -> None:
    windows: list[tuple[int, int]] = []
    low = high = 0
    for forward, longer in steps:
        low += forward
        high = max(high, low + 1) + longer
        windows.append((low, high))
    values = list(range(high))
    answers, operations = two_stacks(values, windows)
    assert answers == [sum(values[low:high]) for low, high in windows]
    lo, hi = np.array(windows, np.int64).T.copy()
    assert count_operations(lo, hi) == operations
