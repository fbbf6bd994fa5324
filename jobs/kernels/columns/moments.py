"""Moments of windows over columns of slices, merged as Chan et al. do, by Two-Stacks.

Count, mean and M2, which most queries need, have their own loop; those of a higher order and of pairs go by rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from jobs.kernels.algebra.operators import (
    CO_MOMENTS,
    MOMENTS,
    VALID,
    VALUE_COLUMNS,
    clear_row,
    combine,
    copy_row,
    width_of,
)
from jobs.kernels.arrays import Bools, Column, Ints, Rows

Moments = tuple[float, float, float]


def fold_all_moments(
    op: int, columns: Sequence[Column], lo: Ints, hi: Ints, valid: Bools | None = None
) -> tuple[Column, ...]:
    """Return the moments of every window [lo, hi) of slices, a column for each that the operator has.

    >>> from jobs.kernels.algebra.operators import CENTRAL_MOMENTS
    >>> ones, values, zeros = np.ones(3), np.array([1.0, 3.0, 8.0]), np.zeros(3)
    >>> columns = (ones, values, zeros, zeros, zeros)
    >>> [m.tolist() for m in fold_all_moments(CENTRAL_MOMENTS, columns, np.array([0]), np.array([3]))]
    [[3.0], [4.0], [26.0], [36.0], [338.0]]
    """
    if op == MOMENTS:
        return fold_moments(columns, lo, hi, valid)
    rows = np.zeros((len(columns[0]), width_of(op)))
    for number, column in zip(VALUE_COLUMNS[op], columns, strict=True):
        rows[:, number] = column
    rows[:, VALID] = (columns[0] > 0) if valid is None else (columns[0] > 0) & valid
    out = np.zeros((len(lo), rows.shape[1]))
    if len(lo):
        _fold_rows(op, rows, lo, hi, np.empty((int((hi - lo).max()), rows.shape[1])), out)
    return tuple(np.ascontiguousarray(out[:, number]) for number in VALUE_COLUMNS[op])


@njit(cache=True, nogil=True)
def _shift(rows: Rows, i: int, level: Column, sign: float) -> None:
    for column in range(1, 1 + level.size):
        rows[i, column] += sign * level[column - 1]


@njit(cache=True, nogil=True)
def _fold_rows(op: int, rows: Rows, lo: Ints, hi: Ints, stack: Rows, out: Rows) -> None:
    """Fold the rows of every window, every mean measured from a level of its own; see `_fold_moments`."""
    means = 2 if op == CO_MOMENTS else 1
    level, levelled = np.zeros(means), np.zeros(means, np.bool_)
    front, new = np.zeros((1, rows.shape[1])), np.zeros((1, rows.shape[1]))
    base = flip = end = 0
    for i in range(lo.size):
        low, high = lo[i], hi[i]
        if low >= flip:
            flip = high
            for mean in range(means):
                last = high - 1
                while last >= low and not (rows[last, VALID] and np.isfinite(rows[last, 1 + mean])):
                    last -= 1
                levelled[mean] = last >= low
                level[mean] = rows[last, 1 + mean] if levelled[mean] else 0.0
                flip = min(flip, last + 1 if levelled[mean] else high)
            clear_row(front, 0)
            for j in range(high - 1, low - 1, -1):
                copy_row(rows, j, new, 0)
                _shift(new, 0, level, -1.0)
                combine(op, new, 0, front, 0, front, 0)
                copy_row(front, 0, stack, j - low)
            clear_row(front, 0)
            base, end = low, high
        while end < high:
            if rows[end, VALID]:
                for mean in range(means):
                    if not levelled[mean] and np.isfinite(rows[end, 1 + mean]):
                        level[mean], levelled[mean] = rows[end, 1 + mean], True  # no finite mean depends on it yet
            copy_row(rows, end, new, 0)
            _shift(new, 0, level, -1.0)
            combine(op, front, 0, new, 0, front, 0)
            end += 1
        combine(op, stack, low - base, front, 0, out, i)
        if out[i, VALID]:
            _shift(out, i, level, 1.0)


def fold_moments(
    columns: Sequence[Column], lo: Ints, hi: Ints, valid: Bools | None = None
) -> tuple[Column, Column, Column]:
    """Return count, mean and M2 of every window [lo, hi) of slices; a slice that is null counts nothing.

    >>> ones, values, zeros = np.ones(3), np.array([1.0, 3.0, 8.0]), np.zeros(3)
    >>> count, mean, m2 = fold_moments((ones, values, zeros), np.array([0, 1]), np.array([2, 3]))
    >>> count.tolist(), mean.tolist(), m2.tolist()
    ([2.0, 2.0], [2.0, 5.5], [2.0, 12.5])
    """
    count, mean, m2 = (np.ascontiguousarray(column, np.float64) for column in columns)
    if valid is not None:
        count = np.where(valid, count, 0.0)
    out = (np.empty(len(lo)), np.empty(len(lo)), np.empty(len(lo)))
    if len(lo):
        stack = np.empty((3, int((hi - lo).max())))
        _fold_moments(count, mean, m2, lo, hi, stack, out)
    return out


@njit(cache=True, nogil=True)
def _merge(a: Moments, b: Moments) -> Moments:
    na, mean_a, m2_a = a
    nb, mean_b, m2_b = b
    if na == 0:
        return b
    if nb == 0:
        return a
    n = na + nb
    delta = mean_b - mean_a
    share = delta * nb / n
    return n, mean_a + share, m2_a + m2_b + delta * share * na


@njit(cache=True, nogil=True)
def _last_finite(count: Column, mean: Column, low: int, high: int) -> int:
    """Find the last slice of [low, high) that has a finite mean; low - 1, if none has."""
    for j in range(high - 1, low - 1, -1):
        if count[j] > 0 and np.isfinite(mean[j]):
            return j
    return low - 1


@njit(cache=True, nogil=True)
def _fold_moments(
    count: Column, mean: Column, m2: Column, lo: Ints, hi: Ints, stack: Column, out: tuple[Column, Column, Column]
) -> None:
    """Fold the moments of every window. Means are measured from a level, since around 1e9 a mean itself has only seven
    decimals. The level is the mean of a slice that every window up to the flip holds: one that has left may have been
    a spike."""
    base = flip = end = 0
    level, levelled, front = 0.0, False, (0.0, 0.0, 0.0)
    for i in range(lo.size):
        low, high = lo[i], hi[i]
        if low >= flip:
            last = _last_finite(count, mean, low, high)
            levelled = last >= low
            level = mean[last] if levelled else 0.0
            back = (0.0, 0.0, 0.0)
            for j in range(high - 1, low - 1, -1):
                back = _merge((count[j], mean[j] - level, m2[j]), back)
                stack[0, j - low], stack[1, j - low], stack[2, j - low] = back
            base, flip, end = low, last + 1 if levelled else high, high
            front = (0.0, 0.0, 0.0)
            answer = back
        else:
            while end < high:
                if not levelled and count[end] > 0 and np.isfinite(mean[end]):
                    level, levelled = mean[end], True  # nothing finite so far: no mean depends on the level yet
                front = _merge(front, (count[end], mean[end] - level, m2[end]))
                end += 1
            j = low - base
            answer = _merge((stack[0, j], stack[1, j], stack[2, j]), front)
        out[0][i], out[1][i], out[2][i] = answer[0], answer[1] + level, answer[2]
