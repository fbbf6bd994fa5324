"""Decimals: whole numbers with a point, in Spark's precisions and scales, rounded half away from zero.

Numbers of at most 18 digits are computed in 64 bits, larger ones by Python: slower, and as exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.engine.events.language.vectors import (
    LONG,
    TRUTH,
    WIDTHS,
    Vector,
    dtype_of,
    refuse,
    strict,
)
from jobs.engine.program.spark_types import is_short

OVERFLOW, BY_ZERO = "overflow", "division by zero"
DIVISION_SCALE = 39  # digits behind the point of a quotient before it is rounded to its type


def add(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return _at_one_scale(kind, a, b, np.add)


def subtract(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return _at_one_scale(kind, a, b, np.subtract)


def _at_one_scale(kind: pa.DataType, a: Vector, b: Vector, operation: Callable[[Any, Any], Any]) -> Vector:
    scale = max(a.type.scale, b.type.scale)
    is_narrow = is_short(kind) and max(_digits(side, scale) for side in (a, b)) < 18
    values = operation(*(_scale_up(side, scale, is_narrow) for side in (a, b)))
    return _fit(kind, values, scale, a, b)


def multiply(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a * b."""
    is_narrow = is_short(kind) and a.type.precision + b.type.precision <= 18
    values = _numbers(a, is_narrow) * _numbers(b, is_narrow)
    return _fit(kind, values, a.type.scale + b.type.scale, a, b)


def divide(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a / b: cut to 39 digits behind the point, then to those of the type."""
    zeros = b.values == 0
    divisor = np.where(zeros, 1, _numbers(b, False))
    dividend = _numbers(a, False) * 10 ** (DIVISION_SCALE + b.type.scale - a.type.scale)
    answer = _fit(kind, _divide_half_up(dividend, divisor), DIVISION_SCALE, b, a)
    return refuse(answer, np.asarray(zeros, np.bool_), BY_ZERO)


def divide_whole(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a DIV b: cut off towards zero, as a bigint."""
    dividend, divisor, zeros = _divisible(a, b)
    quotient = np.abs(dividend) // np.abs(divisor) * np.where((dividend < 0) != (divisor < 0), -1, 1)
    limits = np.iinfo(np.int64)
    beyond = np.asarray((quotient < limits.min) | (quotient > limits.max), np.bool_)
    values = np.where(beyond, 0, quotient).astype(np.int64)
    return refuse(refuse(strict(LONG, values, b, a), zeros, BY_ZERO), beyond, OVERFLOW)


def remainder(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a % b, with the sign of a."""
    dividend, divisor, zeros = _divisible(a, b)
    scale = max(a.type.scale, b.type.scale)
    return refuse(_fit(kind, _rest(dividend, divisor), scale, b, a), zeros, BY_ZERO)


def positive_remainder(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return pmod(a, b)."""
    dividend, divisor, zeros = _divisible(a, b)
    rest = _rest(dividend, divisor)
    moved = np.where(rest < 0, _rest(rest + divisor, divisor), rest)
    return refuse(_fit(kind, moved, max(a.type.scale, b.type.scale), b, a), zeros, BY_ZERO)


def _divisible(a: Vector, b: Vector) -> tuple[Any, Any, Any]:
    scale = max(a.type.scale, b.type.scale)
    zeros = np.asarray(b.values == 0, np.bool_)
    return _scale_up(a, scale, False), np.where(zeros, 1, _scale_up(b, scale, False)), zeros


def _rest(a: Any, b: Any) -> Any:
    return np.abs(a) % np.abs(b) * np.where(a < 0, -1, 1)


def _digits(a: Vector, scale: int) -> int:
    return int(a.type.precision + scale - a.type.scale)


def _numbers(a: Vector, is_narrow: bool) -> Any:
    return a.values.astype(np.int64 if is_narrow else object)


def _scale_up(a: Vector, scale: int, is_narrow: bool) -> Any:
    return _numbers(a, is_narrow) * 10 ** (scale - a.type.scale)


def _divide_half_up(a: Any, b: Any) -> Any:
    """Return whole quotients, rounded half away from zero."""
    size, divisor = np.abs(a), np.abs(b)
    quotient = (2 * size + divisor) // (2 * divisor)
    return np.where((a < 0) != (b < 0), -quotient, quotient)


def rescale(values: Any, scale: int, to: int) -> Any:
    """Return numbers with their points moved; what is cut off is rounded half away from zero.

    >>> rescale(np.array([125, -125], object), 2, 1).tolist()
    [13, -13]
    """
    if to >= scale:
        return values * 10 ** (to - scale) if to > scale else values
    return _divide_half_up(values, np.array([10 ** (scale - to)], values.dtype))


def _fit(kind: pa.DataType, values: Any, scale: int, *parts: Vector) -> Vector:
    """Return numbers of a scale in their type; refused where they have too many digits."""
    values = rescale(values, scale, kind.scale)
    beyond = np.asarray(np.abs(values) >= 10**kind.precision, np.bool_)
    if is_short(kind):
        values = np.where(beyond, 0, values).astype(np.int64)
    return refuse(strict(kind, values, *parts), beyond, OVERFLOW)


def convert(kind: pa.DataType, a: Vector) -> Vector:
    """Return decimals as numbers, or numbers as decimals."""
    if pa.types.is_decimal(kind):
        scale = a.type.scale if pa.types.is_decimal(a.type) else 0
        is_narrow = is_short(kind) and (not pa.types.is_decimal(a.type) or is_short(a.type))
        widest = a.type.precision if pa.types.is_decimal(a.type) else 19
        is_narrow = is_narrow and widest + max(0, kind.scale - scale) <= 18
        return _fit(kind, a.values.astype(np.int64 if is_narrow else object), scale, a)
    if kind == TRUTH:
        return strict(kind, np.asarray(a.values != 0, np.bool_), a)
    if kind in WIDTHS:
        return _to_whole(kind, a)
    return strict(kind, _to_floats(a).astype(dtype_of(kind)), a)


def _to_whole(kind: pa.DataType, a: Vector) -> Vector:
    unit = np.array([10**a.type.scale], dtype_of(a.type))
    whole = np.abs(a.values) // unit * np.where(a.values < 0, -1, 1)
    limits = np.iinfo(dtype_of(kind))
    beyond = np.asarray((whole < limits.min) | (whole > limits.max), np.bool_)
    return refuse(strict(kind, np.where(beyond, 0, whole).astype(dtype_of(kind)), a), beyond, OVERFLOW)


def _to_floats(a: Vector) -> Any:
    """Return the doubles nearest to decimals; a quotient of two doubles is nearest where both are exact."""
    scale = a.type.scale
    if is_short(a.type) and scale <= 22 and (not len(a) or np.abs(a.values).max() < 1 << 53):
        return a.values / 10.0**scale
    return np.array([int(value) / 10**scale for value in a.values.tolist()], np.float64)
