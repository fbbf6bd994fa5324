"""All ranges 1, 2, ..., n at once: each is the one before it and one row more."""

from __future__ import annotations

from typing import Final

from numba import njit

from jobs.kernels.algebra.operators import SUM_FLOAT
from jobs.kernels.arrays import Column
from jobs.kernels.columns.operators import QUICK_MAX, QUICK_MIN, fuse, has_nan, quick_operator
from jobs.kernels.columns.simd import VECTOR, load, store

STRIP: Final = 8_192
GROUP: Final = 4  # ranges that are answered from one reading of the range before them


def fold_ladder(op: int, column: Column, out: Column) -> list[Column]:
    """Return the folds of column[i : i + r] for every r from 1 on, an array per r: the rows of out, as far as they go.

    >>> import numpy as np
    >>> [folds.tolist() for folds in fold_ladder(5, np.array([3.0, 1.0, 2.0]), np.empty((2, 3)))]  # MAX
    [[3.0, 1.0, 2.0], [3.0, 2.0]]
    """
    _ladder(op if has_nan(column) else quick_operator(op), column, out)
    rows = len(column)
    return [row[: rows - r] for r, row in enumerate(out)]


@njit(cache=True, nogil=True)
def _ladder(op: int, column: Column, out: Column) -> None:
    """Strip by strip: the range before is still in the cache when a group of ranges reads it."""
    for k in range(column.size):
        out[0, k] = column[k]
    for a in range(0, column.size, STRIP):
        for low in range(1, min(out.shape[0], column.size - a), GROUP):
            next_row = _fold_group(op, column, low, a, out) if low + GROUP <= out.shape[0] else a
            for r in range(low, min(low + GROUP, out.shape[0])):
                row, before = out[r], out[r - 1]
                for k in range(next_row, min(a + STRIP, column.size - r)):
                    row[k] = fuse(op, before[k], column[k + r])


@njit(cache=True, nogil=True)
def _fold_group(op: int, column: Column, low: int, a: int, out: Column) -> int:
    """Answer the ranges of a group from window a on, as far as vectors go; return where they ended."""
    if op <= SUM_FLOAT:
        return _climb(SUM_FLOAT, column, low, a, out)
    if op == QUICK_MAX:
        return _climb(QUICK_MAX, column, low, a, out)
    if op == QUICK_MIN:
        return _climb(QUICK_MIN, column, low, a, out)
    return a


@njit(cache=True, nogil=True, forceinline=True)
def _climb(op: int, column: Column, low: int, a: int, out: Column) -> int:
    before, first, second, third, fourth = out[low - 1], out[low], out[low + 1], out[low + 2], out[low + 3]
    windows = min(STRIP, column.size - a - low - GROUP + 1)
    end = a + max(0, windows) // VECTOR * VECTOR
    for k in range(a, end, VECTOR):
        fold = fuse(op, load(before, k), load(column, k + low))
        store(first, k, fold)
        fold = fuse(op, fold, load(column, k + low + 1))
        store(second, k, fold)
        fold = fuse(op, fold, load(column, k + low + 2))
        store(third, k, fold)
        store(fourth, k, fuse(op, fold, load(column, k + low + 3)))
    return end
