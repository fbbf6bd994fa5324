"""Two-Stacks on whole columns of slices: no inverse, one flip a block (van Herk; Gil and Werman).

A window is a range [lo, hi) of slices; both bounds ascend from window to window, so groups may follow one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jobs.kernels.columns import Bools, Column, Ints, identity
from jobs.kernels.moments import fold_moments
from jobs.kernels.operators import COUNT, LIMB_BITS, LIMB_MASK, MOMENTS, SUM_INT
from jobs.kernels.runs import fold_ranges


class Answers(NamedTuple):
    """The columns of every window's partial, which windows hold a value at all, and which sums left int64."""

    columns: tuple[Column, ...]
    valid: Bools
    overflow: Bools


def fold(op: int, columns: Sequence[Column], lo: Ints, hi: Ints, valid: Bools | None = None) -> Answers:
    """The answers of the windows [lo, hi): one column in, one out; MOMENTS has three (count, mean, M2).

    An int64 sum may also come as its two limbs, high and low, as operators.py keeps it. No window may be empty.
    """
    return fold_many(op, columns, [(lo, hi)], valid)[0]


def fold_many(
    op: int, columns: Sequence[Column], windows: Sequence[tuple[Ints, Ints]], valid: Bools | None = None
) -> list[Answers]:
    """The answers of several queries over the same slices, which prepare their nulls and bounds once."""
    seen = _valid_before(valid)
    if op == MOMENTS:
        return [_moments(columns, lo, hi, valid) for lo, hi in windows]
    filled = [_filled(op, column, seen, valid) for column in columns]
    if op == COUNT:
        return _count(filled[0], windows)
    if op == SUM_INT:
        return _sum_int(filled, windows, seen)
    return [_answers(fold_ranges(op, filled[0], lo, hi), seen, lo, hi) for lo, hi in windows]


def _valid_before(valid: Bools | None) -> Ints | None:
    """How many slices before each are not null; nothing where none is null."""
    if valid is None or valid.all():
        return None
    seen = np.zeros(len(valid) + 1, np.int64)
    np.cumsum(valid, out=seen[1:])
    return seen


def _filled(op: int, column: Column, seen: Ints | None, valid: Bools | None) -> Column:
    if seen is None:
        return column
    return np.where(valid, column, column.dtype.type(identity(op, column.dtype)))


def _answers(column: Column, seen: Ints | None, lo: Ints, hi: Ints, overflow: Bools | None = None) -> Answers:
    valid = np.ones(len(lo), np.bool_) if seen is None else seen[hi] > seen[lo]
    return Answers((column,), valid, np.zeros(len(lo), np.bool_) if overflow is None else overflow)


def _moments(columns: Sequence[Column], lo: Ints, hi: Ints, valid: Bools | None) -> Answers:
    answer = fold_moments(columns, lo, hi, valid)
    return Answers(answer, answer[0] > 0, np.zeros(len(lo), np.bool_))


def _prefix_sums(column: Column) -> Ints:
    sums = np.zeros(len(column) + 1, np.int64)
    np.cumsum(column, out=sums[1:])
    return sums


def _count(column: Column, windows: Sequence[tuple[Ints, Ints]]) -> list[Answers]:
    """Integers that fit have no rounding to fear, so one array of prefix sums serves all queries."""
    sums = _prefix_sums(column)
    return [_answers(sums[hi] - sums[lo], None, lo, hi) for lo, hi in windows]


def _sum_int(columns: Sequence[Column], windows: Sequence[tuple[Ints, Ints]], seen: Ints | None) -> list[Answers]:
    """The true sum by two limbs that cannot overflow; by one column where the sum of all slices surely fits."""
    if len(columns) == 1:
        if _fits(columns[0]):
            sums = _prefix_sums(columns[0])
            return [_answers(sums[hi] - sums[lo], seen, lo, hi) for lo, hi in windows]
        columns = [columns[0] >> LIMB_BITS, columns[0] & LIMB_MASK]
    highs, lows = (_prefix_sums(column) for column in columns)
    return [_from_limbs(highs[hi] - highs[lo], lows[hi] - lows[lo], seen, lo, hi) for lo, hi in windows]


def _from_limbs(high: Ints, low: Ints, seen: Ints | None, lo: Ints, hi: Ints) -> Answers:
    high = high + (low >> LIMB_BITS)
    overflow = (high >= 1 << 31) | (high < -(1 << 31))
    return _answers((np.where(overflow, 0, high) << LIMB_BITS) + (low & LIMB_MASK), seen, lo, hi, overflow)


def _fits(column: Column) -> bool:
    return not len(column) or max(int(column.max()), -int(column.min())) * len(column) < 1 << 63
