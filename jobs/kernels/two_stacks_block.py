"""Two-Stacks on whole columns of slices: no inverse, one flip a block (van Herk; Gil and Werman).

A window is a range [lo, hi) of slices; both bounds ascend from window to window, so groups may follow one another.
When lo passes the flip point, the stacks flip at hi: suffix aggregates run back to lo, and a running prefix goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from jobs.kernels.columns import Bools, Column, Ints, fuse, identity
from jobs.kernels.moments import fold_moments
from jobs.kernels.operators import LIMB_BITS, LIMB_MASK, MOMENTS, SUM_INT


class Answers(NamedTuple):
    """The columns of every window's partial, which windows hold a value at all, and which sums left int64."""

    columns: tuple[Column, ...]
    valid: Bools
    overflow: Bools


def fold(op: int, columns: Sequence[Column], lo: Ints, hi: Ints, valid: Bools | None = None) -> Answers:
    """The answers of the windows [lo, hi): one column in, one out; MOMENTS has three (count, mean, M2).

    An int64 sum may also come as its two limbs, high and low, as operators.py keeps it.
    """
    if op == MOMENTS:
        answer = fold_moments(columns, lo, hi, valid)
        return Answers(answer, answer[0] > 0, np.zeros(len(lo), np.bool_))
    if op == SUM_INT:
        return _sum_int(columns, lo, hi, valid)
    out = _fold(op, _filled(op, columns[0], valid), lo, hi)
    return Answers((out,), holds(valid, lo, hi), np.zeros(len(lo), np.bool_))


def holds(valid: Bools | None, lo: Ints, hi: Ints) -> Bools:
    """Which windows hold a slice that is not null."""
    if valid is None or valid.all():
        return hi > lo
    seen = np.zeros(len(valid) + 1, np.int64)
    np.cumsum(valid, out=seen[1:])
    return seen[hi] > seen[lo]


def _filled(op: int, column: Column, valid: Bools | None) -> Column:
    if valid is None or valid.all():
        return column
    return np.where(valid, column, identity(op, column.dtype)).astype(column.dtype, copy=False)


def _sum_int(columns: Sequence[Column], lo: Ints, hi: Ints, valid: Bools | None) -> Answers:
    """The true sum by two limbs that cannot overflow; by one column where the longest window surely fits."""
    filled = [_filled(SUM_INT, column, valid) for column in columns]
    if len(filled) == 1:
        if _fits(filled[0], lo, hi):
            return Answers((_fold(SUM_INT, filled[0], lo, hi),), holds(valid, lo, hi), np.zeros(len(lo), np.bool_))
        filled = [filled[0] >> LIMB_BITS, filled[0] & LIMB_MASK]
    low = _fold(SUM_INT, filled[1], lo, hi)
    high = _fold(SUM_INT, filled[0], lo, hi) + (low >> LIMB_BITS)
    overflow = (high >= 1 << 31) | (high < -(1 << 31))
    total = (np.where(overflow, 0, high) << LIMB_BITS) + (low & LIMB_MASK)
    return Answers((total,), holds(valid, lo, hi), overflow)


def _fits(column: Column, lo: Ints, hi: Ints) -> bool:
    if not len(lo) or not len(column):
        return True
    largest = max(int(column.max()), -int(column.min()))
    return largest * int((hi - lo).max()) < 1 << 63


def _fold(op: int, column: Column, lo: Ints, hi: Ints) -> Column:
    out = np.empty(len(lo), column.dtype)
    if len(lo):
        stack = np.empty(int((hi - lo).max()), column.dtype)
        _fold_ranges(op, column, lo, hi, column.dtype.type(identity(op, column.dtype)), stack, out)
    return out


@njit(cache=True, nogil=True)
def _fold_ranges(op, column, lo, hi, nothing, stack, out):  # type: ignore[no-untyped-def]
    base = flip = end = 0
    front = nothing
    for i in range(lo.size):
        low, high = lo[i], hi[i]
        if low >= flip:
            back = nothing
            for j in range(high - low - 1, -1, -1):
                back = fuse(op, column[low + j], back)
                stack[j] = back
            base, flip, end = low, high, high
            front = nothing
            out[i] = back
        else:
            while end < high:
                front = fuse(op, front, column[end])
                end += 1
            out[i] = fuse(op, stack[low - base], front)
