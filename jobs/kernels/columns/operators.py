"""Operators on bare columns, for values and for vectors: one number a slice, the identity where a slice is null."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.algebra.operators import BIT_AND, BIT_OR, BIT_XOR, MAX, MIN, PRODUCT, SUM_FLOAT
from jobs.kernels.arrays import ZERO, Column
from jobs.kernels.columns.simd import (
    VECTOR,
    any_bits,
    both_bits,
    element,
    larger,
    largest,
    load,
    nans,
    other_bits,
    smaller,
    smallest,
    spread,
)

# MIN and MAX where no NaN is about: one instruction instead of three in a chain
QUICK: Final = 32
QUICK_MIN: Final = MIN + QUICK
QUICK_MAX: Final = MAX + QUICK

CHAINS: Final = 8 * VECTOR  # rows that eight chains of vectors take in a step


def as_compiled(column: Column) -> Column:
    """Return the column as kernels are compiled for: one that may not be written to has another type, so it is copied.

    >>> as_compiled(np.arange(6)[::2]).flags.c_contiguous
    True
    """
    return np.require(column, requirements=["C", "W"])


def identity(op: int, kind: np.dtype[Any]) -> float | int:
    """Return what combines with any value and leaves it as it is. NaN is Spark's largest number, so it is MIN's.

    >>> identity(MIN, np.dtype(float)), identity(MAX, np.dtype(float)), identity(PRODUCT, np.dtype(float))
    (nan, -inf, 1)
    """
    if op == MIN:
        return np.nan if kind.kind == "f" else int(np.iinfo(np.int64).max)
    if op == MAX:
        return -np.inf if kind.kind == "f" else int(np.iinfo(np.int64).min)
    return {PRODUCT: 1, BIT_AND: -1}.get(op, 0)


@njit(cache=True, nogil=True)
def fuse(op: int, a: Any, b: Any) -> Any:
    """Combine a with b, in Spark's order of NaN, for values and for vectors; int64 sums wrap: the caller sees to it
    that they fit.

    >>> fuse(MAX, 1.0, np.nan), fuse(MIN, 1.0, np.nan), fuse(BIT_OR, 6, 3)
    (nan, 1.0, 7)
    """
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
    if op == BIT_XOR:
        return other_bits(a, b)
    return both_bits(a, b)


@njit(cache=True, nogil=True)
def fuse_into(op: int, column: Column, other: Column) -> None:
    """Combine a column with another one, row by row, in place.

    >>> column = np.array([1.0, 5.0])
    >>> fuse_into(MAX, column, np.array([3.0, 4.0]))
    >>> column.tolist()
    [3.0, 5.0]
    """
    for j in range(column.size):
        column[j] = fuse(op, column[j], other[j])


@njit(cache=True, nogil=True)
def scan_back(op: int, column: Column, out: Column) -> None:
    """Set out[j] to the fold of column[j:].

    >>> out = np.empty(3)
    >>> scan_back(MAX, np.array([3.0, 1.0, 2.0]), out)
    >>> out.tolist()
    [3.0, 2.0, 2.0]
    """
    back = column[column.size - 1]
    out[column.size - 1] = back
    for j in range(column.size - 2, -1, -1):
        back = fuse(op, column[j], back)
        out[j] = back


@njit(cache=True, nogil=True, forceinline=True)
def fold_vectors(op: int, column: Column, start: int, size: int) -> Any:
    """Fold at least CHAINS rows from start on, by eight chains of vectors, since each waits for itself; for the
    operators that vectors have.

    `fold_all` shows an example.
    """
    f0, f1 = load(column, start), load(column, start + VECTOR)
    f2, f3 = load(column, start + 2 * VECTOR), load(column, start + 3 * VECTOR)
    f4, f5 = load(column, start + 4 * VECTOR), load(column, start + 5 * VECTOR)
    f6, f7 = load(column, start + 6 * VECTOR), load(column, start + 7 * VECTOR)
    end = start + size // CHAINS * CHAINS
    for k in range(start + CHAINS, end, CHAINS):
        f0, f1 = fuse(op, f0, load(column, k)), fuse(op, f1, load(column, k + VECTOR))
        f2, f3 = fuse(op, f2, load(column, k + 2 * VECTOR)), fuse(op, f3, load(column, k + 3 * VECTOR))
        f4, f5 = fuse(op, f4, load(column, k + 4 * VECTOR)), fuse(op, f5, load(column, k + 5 * VECTOR))
        f6, f7 = fuse(op, f6, load(column, k + 6 * VECTOR)), fuse(op, f7, load(column, k + 7 * VECTOR))
    f0, f1, f2, f3 = fuse(op, f0, f1), fuse(op, f2, f3), fuse(op, f4, f5), fuse(op, f6, f7)
    vector = fuse(op, fuse(op, f0, f1), fuse(op, f2, f3))
    fold = fuse(op, fuse(op, element(vector, 0), element(vector, 1)), fuse(op, element(vector, 2), element(vector, 3)))
    for j in range(end, start + size):
        fold = fuse(op, fold, column[j])
    return fold


@njit(cache=True, nogil=True)
def fold_all(op: int, column: Column) -> Any:
    """Fold a column that has rows, in whatever order is fastest.

    >>> fold_all(MAX, np.array([3.0, 1.0, 2.0]))
    3.0
    """
    if column.size >= CHAINS and is_vectorized(op):
        if op <= SUM_FLOAT:
            return fold_vectors(SUM_FLOAT, column, ZERO, column.size)
        if op == QUICK_MAX:
            return fold_vectors(QUICK_MAX, column, ZERO, column.size)
        return fold_vectors(QUICK_MIN, column, ZERO, column.size)
    fold = column[0]
    for j in range(1, column.size):
        fold = fuse(op, fold, column[j])
    return fold


@njit(cache=True, nogil=True)
def has_nan_between(column: Column, low: int, high: int) -> bool:
    """Say whether one of the rows from low to high is NaN.

    >>> has_nan_between(np.array([np.nan, 1.0, 2.0]), 1, 3)
    False
    """
    end = low + (high - low) // (2 * VECTOR) * (2 * VECTOR)
    marks = spread(0)
    for k in range(low, end, 2 * VECTOR):
        marks = any_bits(marks, nans(load(column, k), load(column, k + VECTOR)))
    bits = element(marks, 0) | element(marks, 1) | element(marks, 2) | element(marks, 3)
    for j in range(end, high):
        bits |= column[j] != column[j]
    return bool(bits != 0)


@njit(cache=True, nogil=True)
def has_nan(column: Column) -> bool:
    """Say whether a column holds a NaN.

    >>> has_nan(np.array([1.0, np.nan])), has_nan(np.array([1, 2]))
    (True, False)
    """
    return bool(has_nan_between(column, ZERO, column.size))


@njit(cache=True, nogil=True)
def quick_operator(op: int) -> int:
    """Return the operator to try where NaN is unlikely; another one than op only for MIN and MAX.

    >>> quick_operator(MAX) == QUICK_MAX, quick_operator(SUM_FLOAT) == SUM_FLOAT
    (True, True)
    """
    return op + QUICK if op in (MIN, MAX) else op


@njit(cache=True, nogil=True)
def is_vectorized(op: int) -> bool:
    """Say whether an operator is compiled for vectors: those that are one instruction.

    >>> is_vectorized(SUM_FLOAT), is_vectorized(QUICK_MAX), is_vectorized(MAX)
    (True, True, False)
    """
    return op <= SUM_FLOAT or op >= QUICK
