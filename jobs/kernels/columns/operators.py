"""Operators on bare columns: one number a slice, and the identity where a slice is null."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.algebra.int_literals import ZERO
from jobs.kernels.algebra.operators import BIT_AND, BIT_OR, MAX, MIN, PRODUCT, SUM_FLOAT
from jobs.kernels.arrays import Column
from jobs.kernels.columns.simd import LANES, lane, load, spread
from jobs.kernels.columns.simd_operators import any_bits, both_bits, larger, largest, nans, smaller, smallest

# MIN and MAX where no NaN is about: one instruction instead of three in a chain
QUICK: Final = 32
QUICK_MIN: Final = MIN + QUICK
QUICK_MAX: Final = MAX + QUICK

CHAINS: Final = 8 * LANES  # rows that eight chains of lanes take in a step


def compiled_for(column: Column) -> Column:
    """The column as kernels are compiled for: one that may not be written to has a type of its own, so it is copied."""
    return np.require(column, requirements=["C", "W"])


def identity(op: int, kind: np.dtype[Any]) -> float | int:
    """What combines with any value and leaves it as it is. NaN is Spark's largest number, so it is MIN's."""
    if op == MIN:
        return np.nan if kind.kind == "f" else int(np.iinfo(np.int64).max)
    if op == MAX:
        return -np.inf if kind.kind == "f" else int(np.iinfo(np.int64).min)
    return {PRODUCT: 1, BIT_AND: -1}.get(op, 0)


@njit(cache=True, nogil=True)
def fuse(op: int, a: Any, b: Any) -> Any:
    """a combined with b, in Spark's order of NaN, for values and for lanes; int64 sums wrap: the caller sees to it
    that they fit."""
    if op <= SUM_FLOAT:
        return a + b
    if op == QUICK_MAX:
        return larger(a, b)
    if op == QUICK_MIN:
        return smaller(a, b)
    if op == MAX:
        return largest(a, b)
    if op == MIN:
        return smallest(a, b)
    if op == PRODUCT:
        return a * b
    if op == BIT_OR:
        return any_bits(a, b)
    return both_bits(a, b)


@njit(cache=True, nogil=True)
def fuse_into(op: int, column: Column, other: Column) -> None:
    """column = column combined with other, row by row."""
    for j in range(column.size):
        column[j] = fuse(op, column[j], other[j])


@njit(cache=True, nogil=True)
def scan_back(op: int, column: Column, out: Column) -> None:
    """out[j] = the fold of column[j:]."""
    back = column[column.size - 1]
    out[column.size - 1] = back
    for j in range(column.size - 2, -1, -1):
        back = fuse(op, column[j], back)
        out[j] = back


@njit(cache=True, nogil=True, forceinline=True)
def lanes_total(op: int, column: Column, start: int, size: int) -> Any:
    """The fold of at least CHAINS rows from start on, by eight chains of lanes, since each waits for itself; for the
    operators in lanes."""
    f0, f1 = load(column, start), load(column, start + LANES)
    f2, f3 = load(column, start + 2 * LANES), load(column, start + 3 * LANES)
    f4, f5 = load(column, start + 4 * LANES), load(column, start + 5 * LANES)
    f6, f7 = load(column, start + 6 * LANES), load(column, start + 7 * LANES)
    end = start + size // CHAINS * CHAINS
    for k in range(start + CHAINS, end, CHAINS):
        f0, f1 = fuse(op, f0, load(column, k)), fuse(op, f1, load(column, k + LANES))
        f2, f3 = fuse(op, f2, load(column, k + 2 * LANES)), fuse(op, f3, load(column, k + 3 * LANES))
        f4, f5 = fuse(op, f4, load(column, k + 4 * LANES)), fuse(op, f5, load(column, k + 5 * LANES))
        f6, f7 = fuse(op, f6, load(column, k + 6 * LANES)), fuse(op, f7, load(column, k + 7 * LANES))
    f0, f1, f2, f3 = fuse(op, f0, f1), fuse(op, f2, f3), fuse(op, f4, f5), fuse(op, f6, f7)
    lanes = fuse(op, fuse(op, f0, f1), fuse(op, f2, f3))
    fold = fuse(op, fuse(op, lane(lanes, 0), lane(lanes, 1)), fuse(op, lane(lanes, 2), lane(lanes, 3)))
    for j in range(end, start + size):
        fold = fuse(op, fold, column[j])
    return fold


@njit(cache=True, nogil=True)
def total(op: int, column: Column) -> Any:
    """The fold of a column that has rows, in whatever order is fastest."""
    if column.size >= CHAINS and in_lanes(op):
        if op <= SUM_FLOAT:
            return lanes_total(SUM_FLOAT, column, ZERO, column.size)
        if op == QUICK_MAX:
            return lanes_total(QUICK_MAX, column, ZERO, column.size)
        return lanes_total(QUICK_MIN, column, ZERO, column.size)
    fold = column[0]
    for j in range(1, column.size):
        fold = fuse(op, fold, column[j])
    return fold


@njit(cache=True, nogil=True)
def nan_between(column: Column, low: int, high: int) -> bool:
    """Whether one of the rows from low to high is NaN."""
    end = low + (high - low) // (2 * LANES) * (2 * LANES)
    found = spread(0)
    for k in range(low, end, 2 * LANES):
        found = any_bits(found, nans(load(column, k), load(column, k + LANES)))
    bits = lane(found, 0) | lane(found, 1) | lane(found, 2) | lane(found, 3)
    for j in range(end, high):
        bits |= column[j] != column[j]
    return bool(bits != 0)


@njit(cache=True, nogil=True)
def has_nan(column: Column) -> bool:
    """Whether a column holds a NaN."""
    return bool(nan_between(column, ZERO, column.size))


@njit(cache=True, nogil=True)
def quick(op: int) -> int:
    """The operator to try where NaN is unlikely; another one than op only for MIN and MAX."""
    return op + QUICK if op in (MIN, MAX) else op


@njit(cache=True, nogil=True)
def in_lanes(op: int) -> bool:
    """Whether an operator is compiled for lanes: those that are one instruction."""
    return op <= SUM_FLOAT or op >= QUICK
