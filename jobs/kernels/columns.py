"""Operators on bare columns: one number a slice, and the identity where a slice is null."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from jobs.kernels.operators import BIT_AND, BIT_OR, MAX, MIN, PRODUCT, SUM_FLOAT

Column = NDArray[Any]  # float64 or int64
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

# MIN and MAX where no NaN is about: one instruction instead of three in a chain
QUICK: Final = 32
QUICK_MIN: Final = MIN + QUICK
QUICK_MAX: Final = MAX + QUICK


def identity(op: int, kind: np.dtype[Any]) -> float | int:
    """What combines with any value and leaves it as it is. NaN is Spark's largest number, so it is MIN's."""
    if op == MIN:
        return np.nan if kind.kind == "f" else int(np.iinfo(np.int64).max)
    if op == MAX:
        return -np.inf if kind.kind == "f" else int(np.iinfo(np.int64).min)
    return {PRODUCT: 1, BIT_AND: -1}.get(op, 0)


@njit(cache=True, nogil=True)
def fuse(op: int, a: Any, b: Any) -> Any:
    """a combined with b, in Spark's order of NaN; int64 sums wrap, so the caller makes sure that they fit."""
    if op <= SUM_FLOAT:
        return a + b
    if op == QUICK_MAX:
        return max(a, b)
    if op == QUICK_MIN:
        return min(a, b)
    if op == MAX:
        return a if (a >= b) | (a != a) else b
    if op == MIN:
        return a if (a <= b) | (b != b) else b
    if op == PRODUCT:
        return a * b
    if op == BIT_OR:
        return np.int64(a) | np.int64(b)
    return np.int64(a) & np.int64(b)


@njit(cache=True, nogil=True)
def fuse_into(op: int, column: Column, other: Column) -> None:
    """column = column combined with other, row by row."""
    for j in range(column.size):
        column[j] = fuse(op, column[j], other[j])


@njit(cache=True, nogil=True)
def fuse_columns(op: int, a: Column, b: Column, out: Column) -> None:
    """out = a combined with b, row by row; out may not overlap a or b, or the loop is not vectorised."""
    for j in range(out.size):
        out[j] = fuse(op, a[j], b[j])


@njit(cache=True, nogil=True)
def scan_back(op: int, column: Column, out: Column) -> None:
    """out[j] = the fold of column[j:]."""
    back = column[column.size - 1]
    out[column.size - 1] = back
    for j in range(column.size - 2, -1, -1):
        back = fuse(op, column[j], back)
        out[j] = back


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _total_in_any_order(op: int, column: Column) -> Any:
    fold = column[0]
    for j in range(1, column.size):
        fold = fuse(op, fold, column[j])
    return fold


@njit(cache=True, nogil=True, inline="always")
def _total_by_four(op: int, column: Column) -> Any:
    """Four chains of comparisons, which wait for themselves otherwise."""
    quarter = column.size // 4
    x0, x1, x2, x3 = column[:quarter], column[quarter:], column[2 * quarter :], column[3 * quarter :]
    f0, f1, f2, f3 = x0[0], x1[0], x2[0], x3[0]
    for j in range(1, quarter):
        f0, f1, f2, f3 = fuse(op, f0, x0[j]), fuse(op, f1, x1[j]), fuse(op, f2, x2[j]), fuse(op, f3, x3[j])
    fold = fuse(op, fuse(op, f0, f1), fuse(op, f2, f3))
    for j in range(quarter, x3.size):
        fold = fuse(op, fold, x3[j])
    return fold


@njit(cache=True, nogil=True)
def total(op: int, column: Column) -> Any:
    """The fold of a column that has rows, in whatever order is fastest."""
    if op >= QUICK and column.size >= 16:
        if op == QUICK_MAX:
            return _total_by_four(QUICK_MAX, column)
        return _total_by_four(QUICK_MIN, column)
    return _total_in_any_order(op, column)


@njit(cache=True, nogil=True)
def has_nan(column: Column) -> bool:
    """Whether a column holds a NaN."""
    found = 0
    for j in range(column.size):
        found += column[j] != column[j]
    return found > 0


@njit(cache=True, nogil=True)
def quick(op: int) -> int:
    """The operator to try where NaN is unlikely; another one than op only for MIN and MAX."""
    return op + QUICK if op in (MIN, MAX) else op
