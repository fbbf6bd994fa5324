"""What sliding is given: a column that kernels take, which of it is null, and how its answers get their type back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jobs.kernels.arrays import Bools, Column, Ints
from optimizer.errors import HeddleError

ORDERED = ("min", "max", "first", "last", "count")  # what strings, dates and timestamps can be asked for


class Given(NamedTuple):
    """The numbers, which of them are not null (None: all), and what they stand for: a type, a dictionary of words."""

    numbers: Column
    valid: Bools | None
    kind: np.dtype[Any]
    words: NDArray[np.object_] | None = None

    @property
    def ordered(self) -> bool:
        """Whether the numbers only stand for the order of something else."""
        return self.words is not None or self.kind.kind in "mM"

    def taken(self, rows: Any) -> NDArray[Any]:
        """The values of the rows, which are places or a slice, as answers."""
        valid = None if self.valid is None else self.valid[rows]
        return self.restored(with_nulls(self.numbers[rows].copy(), valid))

    def restored(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Answers that are some of the values, in the type these came in."""
        if not self.ordered and self.kind.kind != "b":
            return answers
        nulls, plain = np.ma.getmaskarray(answers), np.ma.filled(answers, 0)
        if self.kind.kind == "b":
            return with_nulls(plain.astype(np.bool_), ~nulls)
        if self.words is None:
            times: NDArray[Any] = plain.astype(self.kind)
            times[nulls] = np.array("NaT", self.kind)
            return times
        words = np.full(len(plain), None, object)
        words[~nulls] = self.words[plain[~nulls]]
        return words


def given_column(values: ArrayLike) -> Given:
    """The column of what the caller has: masked, None and NaT are null; NaN is a number, as in Spark."""
    column = np.ma.getdata(values) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    if column.ndim != 1:
        raise HeddleError(f"the values have {column.ndim} dimensions; give one column")
    valid = ~np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    if column.dtype.kind in "OT":
        column, valid = _objects(column.astype(object), valid)
    if column.dtype.kind in "mM":
        valid = _both(valid, ~np.isnat(column))
    numbers, words = _coded(column, valid) if column.dtype.kind in "OUS" else (_numbers(column), None)
    if valid is None or valid.all():
        return Given(numbers, None, column.dtype, words)
    return Given(np.where(valid, numbers, numbers.dtype.type(0)), valid, column.dtype, words)


def with_nulls(answers: NDArray[Any], valid: Bools | None) -> NDArray[Any]:
    """Answers, where they are null NaN; integers and booleans have none, so they are masked there."""
    if valid is None or valid.all():
        return answers
    return np.where(valid, answers, np.nan) if answers.dtype.kind == "f" else np.ma.array(answers, mask=~valid)


def _both(valid: Bools | None, more: Bools) -> Bools:
    return more if valid is None else valid & more


def _objects(column: NDArray[Any], valid: Bools | None) -> tuple[NDArray[Any], Bools | None]:
    """Python's values as numpy would type them without the nulls; strings remain objects."""
    there = _both(valid, np.array([value is not None for value in column], np.bool_))
    held = column[there].tolist()
    if any(isinstance(value, str | bytes) for value in held):
        return column, there
    typed = np.array(held) if held else np.zeros(0)
    if typed.dtype.kind == "O" or typed.ndim != 1:
        return column, there
    whole = np.zeros(len(column), typed.dtype)
    whole[there] = typed
    return whole, there


def _numbers(column: NDArray[Any]) -> Column:
    kind = column.dtype.kind
    if kind == "f":
        return np.ascontiguousarray(column, np.float64)
    if kind in "bimM" or (kind == "u" and (column.itemsize < 8 or not len(column) or int(column.max()) < 1 << 63)):
        return np.ascontiguousarray(column.astype(np.int64, copy=False))
    if kind == "u":
        raise HeddleError("a value does not fit into int64; give the values as float64")
    raise HeddleError(f"values of type {column.dtype} cannot be aggregated; give integers, floats or strings")


def _coded(column: NDArray[Any], valid: Bools | None) -> tuple[Ints, NDArray[np.object_]]:
    """Words go as integers in the same order. Spark compares the bytes of UTF-8, which is the order of code points
    and so that of Python."""
    held = column.astype(object) if valid is None else column.astype(object)[valid]
    try:
        words, codes = np.unique(held, return_inverse=True)
    except TypeError:
        kinds = ", ".join(sorted({type(value).__name__ for value in held}))
        raise HeddleError(f"values of type {kinds} have no order; give integers, floats or strings") from None
    numbers = np.zeros(len(column), np.int64)
    numbers[slice(None) if valid is None else valid] = codes
    return numbers, words
