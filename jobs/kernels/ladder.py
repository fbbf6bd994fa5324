"""All ranges 1, 2, ..., n at once: each is the one before it and one row more."""

from __future__ import annotations

from typing import Final

from numba import njit

from jobs.kernels.columns import QUICK_MAX, QUICK_MIN, Column, fuse, has_nan, quick
from jobs.kernels.lanes import LANES, load, store
from jobs.kernels.operators import SUM_FLOAT

STRIP: Final = 16_384
GROUP: Final = 4


def ladder(op: int, column: Column, out: Column) -> list[Column]:
    """The folds of column[i : i + r] for every r from 1 on, an array per r: the rows of out, as far as they go."""
    _ladder(op if has_nan(column) else quick(op), column, out)
    return [row[: len(column) - r] for r, row in enumerate(out)]


@njit(cache=True, nogil=True)
def _ladder(op: int, column: Column, out: Column) -> None:
    """A few rows of answers at a time: a page of memory is written soon after it is first touched."""
    out[0, : column.size] = column
    for low in range(1, out.shape[0], GROUP):
        for a in range(0, column.size, STRIP):
            for r in range(low, min(low + GROUP, out.shape[0], column.size - a)):
                end = min(a + STRIP, column.size - r)
                _step(op, out[r - 1, a:end], column[a + r : end + r], out[r, a:end])


@njit(cache=True, nogil=True, forceinline=True)
def _fuse_columns(op: int, a: Column, b: Column, out: Column) -> None:
    end = out.size // LANES * LANES
    for k in range(0, end, LANES):
        store(out, k, fuse(op, load(a, k), load(b, k)))
    for k in range(end, out.size):
        out[k] = fuse(op, a[k], b[k])


@njit(cache=True, nogil=True)
def _step(op: int, a: Column, b: Column, out: Column) -> None:
    """out = a combined with b, row by row."""
    if op <= SUM_FLOAT:
        _fuse_columns(SUM_FLOAT, a, b, out)
    elif op == QUICK_MAX:
        _fuse_columns(QUICK_MAX, a, b, out)
    elif op == QUICK_MIN:
        _fuse_columns(QUICK_MIN, a, b, out)
    else:
        for k in range(out.size):
            out[k] = fuse(op, a[k], b[k])
