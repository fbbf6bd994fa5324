"""Two-Stacks on whole columns of slices: no inverse, one flip a block (van Herk; Gil and Werman).

A window is a range [lo, hi) of slices; both bounds ascend from window to window, so groups may follow one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jobs.kernels.algebra.operators import COUNT, LAST, LIMB_BITS, LIMB_MASK, MAX, MOMENTS, SUM_INT
from jobs.kernels.arrays import Bools, Column, Ints
from jobs.kernels.columns.fold_bounds import fold_ranges
from jobs.kernels.columns.moments import fold_moments
from jobs.kernels.columns.operators import identity


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
    op = MAX if op == LAST else op  # they differ in the row they pick, not in its order
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
    if seen is None or valid is None:
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
    if len(columns) == 1 and surely_fits(columns[0], len(columns[0])):
        sums = _prefix_sums(columns[0])
        return [_answers(sums[hi] - sums[lo], seen, lo, hi) for lo, hi in windows]
    highs, lows = (_prefix_sums(column) for column in (columns if len(columns) > 1 else limbs(columns[0])))
    answers = []
    for lo, hi in windows:
        total, overflow = from_limbs(highs[hi] - highs[lo], lows[hi] - lows[lo])
        answers.append(_answers(total, seen, lo, hi, overflow))
    return answers


def surely_fits(column: Column, rows: int) -> bool:
    """Whether no sum of so many rows of the column can leave int64."""
    return not len(column) or max(int(column.max()), -int(column.min())) * rows < 1 << 63


def limbs(column: Column) -> tuple[Ints, Ints]:
    """The high and the low limb of every row: row = high * 2**32 + low."""
    return column >> LIMB_BITS, column & LIMB_MASK


def from_limbs(high: Ints, low: Ints) -> tuple[Ints, Bools]:
    """The numbers of summed limbs, and which of them leave int64."""
    high = high + (low >> LIMB_BITS)
    overflow: Bools = (high >= 1 << 31) | (high < -(1 << 31))
    return (np.where(overflow, 0, high) << LIMB_BITS) + (low & LIMB_MASK), overflow
