"""The inputs of the components that an aggregate needs of one in-memory column, one event a slice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jobs.kernels.algebra.operators import OPS
from jobs.kernels.arrays import Bools, Column
from optimizer.algebra.aggregates import Need
from optimizer.errors import HeddleError

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
    values, valid = _evaluate(need.expression, values)
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
