"""The column of `sliding`: the numbers that kernels take, its nulls, and how answers get the column's type back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jobs.kernels.algebra.operators import OPS
from jobs.kernels.arrays import Bools, Column, Ints
from optimizer.algebra.aggregates import Need
from optimizer.errors import HeddleError

ORDERED = ("min", "max", "first", "last", "count")  # what strings, dates and timestamps have


class InputColumn(NamedTuple):
    """The numbers, which of them are not null (None: all), and what they stand for: a type, a dictionary of words."""

    numbers: Column
    valid: Bools | None
    kind: np.dtype[Any]
    words: NDArray[np.object_] | None = None

    @property
    def is_only_ordered(self) -> bool:
        """Whether the numbers only stand for the order of something else.

        >>> read_column(["b", "a"]).is_only_ordered, read_column([2, 1]).is_only_ordered
        (True, False)
        """
        return self.words is not None or self.kind.kind in "mM"

    def values_at(self, rows: Any) -> NDArray[Any]:
        """Return the values of the rows, which are places or a slice, as answers.

        >>> read_column(["b", None, "a"]).values_at(slice(0, 2)).tolist()
        ['b', None]
        """
        valid = None if self.valid is None else self.valid[rows]
        return self.restore_type(mask_nulls(self.numbers[rows].copy(), valid))

    def restore_type(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Return answers that are some of the values in the type that these came in.

        >>> read_column(["b", "a"]).restore_type(np.array([0, 1, 1])).tolist()
        ['a', 'b', 'b']
        """
        if not self.is_only_ordered and self.kind.kind != "b":
            return answers
        nulls, plain = np.ma.getmaskarray(answers), np.ma.filled(answers, 0)
        if self.kind.kind == "b":
            return mask_nulls(plain.astype(np.bool_), ~nulls)
        if self.words is None:
            times: NDArray[Any] = plain.astype(self.kind)
            times[nulls] = np.array("NaT", self.kind)
            return times
        words = np.full(len(plain), None, object)
        words[~nulls] = self.words[plain[~nulls]]
        return words


def read_column(values: ArrayLike) -> InputColumn:
    """Read the caller's values: masked, None and NaT are null; NaN is a number, as in Spark.

    >>> column = read_column([3, None, 5])
    >>> column.numbers.tolist(), column.valid.tolist()
    ([3, 0, 5], [True, False, True])
    """
    column = np.ma.getdata(values) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    if column.ndim != 1:
        raise HeddleError(f"the values have {column.ndim} dimensions; give one column")
    valid = ~np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    if column.dtype.kind in "OT":
        column, valid = _type_objects(column.astype(object), valid)
    if column.dtype.kind in "mM":
        valid = _both(valid, ~np.isnat(column))
    numbers, words = _number_words(column, valid) if column.dtype.kind in "OUS" else (_numbers(column), None)
    if valid is None or valid.all():
        return InputColumn(numbers, None, column.dtype, words)
    return InputColumn(np.where(valid, numbers, numbers.dtype.type(0)), valid, column.dtype, words)


def mask_nulls(answers: NDArray[Any], valid: Bools | None) -> NDArray[Any]:
    """Return answers with NaN where they are null; integers and booleans have no NaN, so they are masked there.

    >>> mask_nulls(np.array([1.0, 2.0]), np.array([True, False])).tolist()
    [1.0, nan]
    >>> mask_nulls(np.array([1, 2]), np.array([True, False])).tolist()
    [1, None]
    """
    if valid is None or valid.all():
        return answers
    return np.where(valid, answers, np.nan) if answers.dtype.kind == "f" else np.ma.array(answers, mask=~valid)


def _both(valid: Bools | None, more: Bools) -> Bools:
    return more if valid is None else valid & more


def _type_objects(column: NDArray[Any], valid: Bools | None) -> tuple[NDArray[Any], Bools | None]:
    """Return Python's values as numpy would type them without the nulls; strings remain objects."""
    present = _both(valid, np.array([value is not None for value in column], np.bool_))
    objects = column[present].tolist()
    if any(isinstance(value, str | bytes) for value in objects):
        return column, present
    typed = np.array(objects) if objects else np.zeros(0)
    if typed.dtype.kind == "O" or typed.ndim != 1:
        return column, present
    whole = np.zeros(len(column), typed.dtype)
    whole[present] = typed
    return whole, present


def _numbers(column: NDArray[Any]) -> Column:
    kind = column.dtype.kind
    if kind == "f":
        return np.ascontiguousarray(column, np.float64)
    if kind in "bimM" or (kind == "u" and (column.itemsize < 8 or not len(column) or int(column.max()) < 1 << 63)):
        return np.ascontiguousarray(column.astype(np.int64, copy=False))
    if kind == "u":
        raise HeddleError("a value does not fit into int64; give the values as float64")
    raise HeddleError(f"values of type {column.dtype} cannot be aggregated; give integers, floats or strings")


def _number_words(column: NDArray[Any], valid: Bools | None) -> tuple[Ints, NDArray[np.object_]]:
    """Number the words in their order, and return them, too."""
    # Spark compares the bytes of UTF-8, which is the order of code points and so that of Python
    objects = column.astype(object) if valid is None else column.astype(object)[valid]
    try:
        words, codes = np.unique(objects, return_inverse=True)
    except TypeError:
        kinds = ", ".join(sorted({type(value).__name__ for value in objects}))
        raise HeddleError(f"values of type {kinds} have no order; give integers, floats or strings") from None
    numbers = np.zeros(len(column), np.int64)
    numbers[slice(None) if valid is None else valid] = codes
    return numbers, words


LARGEST_ROOT = 3_037_000_499  # its square is the largest that fits into int64


class ComponentInput(NamedTuple):
    """A component's op code, the values it folds, and which are not null (None: all)."""

    component: str
    op: int
    values: Column
    valid: Bools | None


def make_input(need: Need, values: Column, present: Bools | None = None) -> ComponentInput:
    """Return the input of one component, its expression applied as Spark would; `present`: the values not null.

    >>> from optimizer.algebra.aggregates import AGGREGATES
    >>> make_input(AGGREGATES["sum_squares"].needs[0], np.array([2, 3])).values.tolist()
    [4, 9]
    """
    values, valid = _evaluate(need.expressions[0], values)
    valid = present if valid is None else valid if present is None else valid & present
    component = need.component
    if component == "sum_squares":
        values = _squares(values)
    elif component == "count":
        values, valid = np.ones(len(values), np.int64) if valid is None else valid.astype(np.int64), None
    elif component == "product":
        values = values.astype(np.float64)
    elif component.startswith("bool_") and values.dtype == np.int64:
        values = (values != 0).astype(np.int64)
    elif component in ("first", "last"):
        values, valid = np.arange(len(values)), None  # the tick decides, whether a null stands there or not
    if (component, str(values.dtype)) not in OPS:
        raise HeddleError(f"aggregate {component} needs integers or booleans, and the values are {values.dtype}")
    return ComponentInput(component, OPS[component, str(values.dtype)], values, valid)


def _evaluate(expression: str, values: Column) -> tuple[Column, Bools | None]:
    if expression == "cast({x} AS DOUBLE)":
        return values.astype(np.float64, copy=False), None
    if expression == "ln({x})":
        numbers = values.astype(np.float64, copy=False)
        positive = ~(numbers <= 0)  # Spark: the logarithm of what is not positive is null, of NaN it is NaN
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.log(np.where(positive, numbers, 1.0)), None if positive.all() else positive
    return values, None


def _squares(values: Column) -> Column:
    if values.dtype == np.int64 and len(values) and max(int(values.max()), -int(values.min())) > LARGEST_ROOT:
        raise HeddleError("sum_squares: a square does not fit into int64; give the values as float64")
    with np.errstate(over="ignore"):
        squares: Column = values * values
    return squares
