"""The one way from columns of slices to the partials of windows, whatever folds them: bounds, a grid, a dense column.

A null is filled with the operator's identity, and the values that are not null are counted beside it. An int64 sum that
might not fit goes by two limbs, high and low, as operators.py keeps it: they cannot overflow, so the true sum is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jobs.kernels.algebra.operators import COUNT, LAST, LIMB_BITS, LIMB_MASK, MAX, SUM_INT, VALUE_COLUMNS
from jobs.kernels.arrays import Bools, Column, Ints
from jobs.kernels.columns.fold_bounds import fold_between
from jobs.kernels.columns.moments import fold_all_moments
from jobs.kernels.columns.operators import identity


class Folded(NamedTuple):
    """The columns of every window's partial, the windows that hold a value (None: all), the sums that left int64."""

    columns: tuple[Column, ...]
    valid: Bools | None
    overflow: Bools | None = None  # None: none did
    limbs: tuple[Ints, Ints] | None = None  # of sums that may leave int64: the high and the low one

    @property
    def has_overflow(self) -> bool:
        """Whether the sum of some window left int64.

        >>> Folded((np.array([0]),), None, np.array([True])).has_overflow, Folded((np.array([5]),), None).has_overflow
        (True, False)
        """
        return self.overflow is not None and bool(self.overflow.any())


class Foldable(NamedTuple):
    """A component's columns without nulls, its operator, and 1 for every value that is not null (None: none is)."""

    op: int
    columns: tuple[Column, ...]
    presence: Ints | None

    @property
    def parts(self) -> list[tuple[int, Column]]:
        """Every column that has to be folded, with its operator: those of the component, then the presence.

        >>> Foldable(5, (np.array([3, 4]),), np.array([1, 0])).parts  # MAX, and COUNT of the values that are not null
        [(5, array([3, 4])), (0, array([1, 0]))]
        """
        parts = [(self.op, column) for column in self.columns]
        return parts if self.presence is None else [*parts, (COUNT, self.presence)]

    def join(self, folds: Sequence[Column]) -> Folded:
        """Join the folds of `parts`, in their order, to the partials of the windows.

        >>> sums = Foldable(SUM_INT, split_limbs(np.array([1 << 62, 5])), None)
        >>> sums.join([2 * column for column in sums.columns])[:3]
        ((array([ 0, 10]),), None, array([ True, False]))
        """
        columns, valid = list(folds), None
        if self.presence is not None:
            valid = columns.pop() > 0
        if self.op == SUM_INT and len(columns) == 2:
            total, overflow = join_limbs(*columns)
            return Folded((total,), valid, overflow, (columns[0], columns[1]))
        return Folded(tuple(columns), valid)


def prepare(op: int, columns: Sequence[Column], valid: Bools | None, longest: int) -> Foldable:
    """Prepare a component for windows of at most `longest` rows; `valid` says which values are not null (None: all).

    >>> for op, column in prepare(MAX, [np.array([3, 5])], np.array([True, False]), 2).parts:
    ...     op, column.tolist()
    (5, [3, -9223372036854775808])
    (0, [1, 0])
    """
    op = MAX if op == LAST else op  # they differ in the row they pick, not in its order
    valid = None if valid is None or valid.all() else valid
    if valid is not None:
        columns = [np.where(valid, column, column.dtype.type(identity(op, column.dtype))) for column in columns]
    if op == SUM_INT and len(columns) == 1 and not surely_fits(columns[0], longest):
        columns = split_limbs(columns[0])
    presence = None if valid is None or op == COUNT else valid.astype(np.int64)  # a count is never null
    return Foldable(op, tuple(columns), presence)


def fold(op: int, columns: Sequence[Column], lo: Ints, hi: Ints, valid: Bools | None = None) -> Folded:
    """Fold the windows [lo, hi), none of them empty: one column in, one out; those of moments are several.

    Both bounds ascend from window to window, so groups may follow one another.

    >>> lo, values = np.array([0, 1]), np.array([3, 5, 7])
    >>> fold(SUM_INT, (values,), lo, lo + 2).columns[0].tolist()
    [8, 12]
    >>> fold(MAX, (values,), lo, lo + 2, np.array([True, False, False])).valid.tolist()
    [True, False]
    """
    if op in VALUE_COLUMNS:
        moments = fold_all_moments(op, columns, lo, hi, valid)
        return Folded(moments, moments[0] > 0)
    foldable = prepare(op, columns, valid, len(columns[0]))
    return foldable.join([fold_between(op, column, lo, hi) for op, column in foldable.parts])


def surely_fits(column: Column, rows: int) -> bool:
    """Say whether no sum of so many rows of the column can leave int64.

    >>> surely_fits(np.array([1 << 61, -3]), 3), surely_fits(np.array([1 << 61, -3]), 4)
    (True, False)
    """
    return not len(column) or max(int(column.max()), -int(column.min())) * rows < 1 << 63


def split_limbs(column: Column) -> tuple[Ints, Ints]:
    """Return the high and the low limb of every row: row = high * 2**32 + low.

    >>> [limb.tolist() for limb in split_limbs(np.array([5, -1, 1 << 32]))]
    [[0, -1, 1], [5, 4294967295, 0]]
    """
    return column >> LIMB_BITS, column & LIMB_MASK


def join_limbs(high: Ints, low: Ints) -> tuple[Ints, Bools]:
    """Return the numbers of summed limbs, and which of them leave int64.

    >>> numbers, overflow = join_limbs(np.array([-1, 1 << 31]), np.array([2 * 4294967295, 0]))
    >>> numbers.tolist(), overflow.tolist()
    ([4294967294, 0], [False, True])
    """
    high = high + (low >> LIMB_BITS)
    overflow: Bools = (high >= 1 << 31) | (high < -(1 << 31))
    return (np.where(overflow, 0, high) << LIMB_BITS) + (low & LIMB_MASK), overflow
