"""Arithmetic in the type of the result: whole numbers that may not overflow, floats as IEEE 754 has them, bits."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.engine.events.language import decimals
from jobs.engine.events.language.vectors import LONG, WIDTHS, Vector, dtype_of, refuse, strict
from jobs.kernels.arrays import Bools

OVERFLOW, BY_ZERO = "overflow", "division by zero"
Operation = Callable[[Any, Any], Any]
EXACT: dict[Operation, Operation] = {np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul}


def add(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    if pa.types.is_decimal(kind):
        return decimals.add(kind, a, b)
    return _checked(kind, a, b, np.add, _sum_overflows)


def subtract(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    if pa.types.is_decimal(kind):
        return decimals.subtract(kind, a, b)
    return _checked(kind, a, b, np.subtract, _difference_overflows)


def multiply(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a * b."""
    if pa.types.is_decimal(kind):
        return decimals.multiply(kind, a, b)
    return _checked(kind, a, b, np.multiply, _product_overflows)


def _checked(kind: pa.DataType, a: Vector, b: Vector, operation: Operation, overflows: Callable[..., Bools]) -> Vector:
    with np.errstate(all="ignore"):
        values = operation(a.values, b.values)
    answer = strict(kind, values, a, b)
    if kind not in WIDTHS or _stays_within(kind, a.values, b.values, operation):
        return answer
    return refuse(answer, overflows(a.values, b.values, values), OVERFLOW)


def _stays_within(kind: pa.DataType, a: Any, b: Any, operation: Operation) -> bool:
    """Whether the extremes of both sides cannot leave the type: far cheaper than a look at every row's answer."""
    if not len(a) or not len(b):
        return True
    corners = [EXACT[operation](x, y) for x in _extremes(a) for y in _extremes(b)]
    limits = np.iinfo(dtype_of(kind))
    return bool(limits.min <= min(corners) and max(corners) <= limits.max)


def _extremes(values: Any) -> tuple[int, int]:
    return int(values.min()), int(values.max())


def _sum_overflows(a: Any, b: Any, total: Any) -> Bools:
    return np.asarray(((a ^ total) & (b ^ total)) < 0)


def _difference_overflows(a: Any, b: Any, difference: Any) -> Bools:
    return np.asarray(((a ^ b) & (a ^ difference)) < 0)


def _product_overflows(a: Any, b: Any, product: Any) -> Bools:
    if product.dtype != np.int64:
        return np.asarray(a.astype(np.int64) * b.astype(np.int64) != product)
    least = np.iinfo(np.int64).min
    divisor = np.where((a == 0) | (a == -1), 1, a)
    wrong = (product // divisor != b) | (product % divisor != 0)
    return np.asarray(np.where(a == -1, b == least, np.where(a == 0, False, wrong)))


def divide(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a / b of doubles or decimals; Spark looks at the divisor first."""
    if pa.types.is_decimal(kind):
        return decimals.divide(kind, a, b)
    zeros = b.values == 0
    with np.errstate(all="ignore"):
        answer = strict(kind, a.values / b.values, b, a)
    return refuse(answer, zeros, BY_ZERO)


def divide_whole(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a DIV b: cut off towards zero."""
    if pa.types.is_decimal(a.type):
        return decimals.divide_whole(kind, a, b)
    zeros = b.values == 0
    divisor = np.where(zeros, 1, b.values)
    with np.errstate(all="ignore"):
        whole = a.values // divisor
        whole = whole + ((a.values % divisor != 0) & ((a.values < 0) != (divisor < 0)))
    answer = refuse(strict(kind, whole, b, a), zeros, BY_ZERO)
    return refuse(answer, (a.values == np.iinfo(np.int64).min) & (b.values == -1), OVERFLOW)


def remainder(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a % b, with the sign of a, as Java has it."""
    if pa.types.is_decimal(kind):
        return decimals.remainder(kind, a, b)
    return refuse(strict(kind, _modulo(a.values, b.values), b, a), b.values == 0, BY_ZERO)


def positive_remainder(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return pmod(a, b): a % b, and b more where that is negative, once more modulo b."""
    if pa.types.is_decimal(kind):
        return decimals.positive_remainder(kind, a, b)
    rest, divisor = _modulo(a.values, b.values), b.values
    if kind in WIDTHS[:2]:  # Java computes bytes and shorts as ints
        rest, divisor = rest.astype(np.int64), divisor.astype(np.int64)
    with np.errstate(all="ignore"):
        moved = np.where(rest < 0, _modulo(rest + divisor, divisor), rest)
    return refuse(strict(kind, moved.astype(dtype_of(kind)), b, a), b.values == 0, BY_ZERO)


def _modulo(a: Any, b: Any) -> Any:
    with np.errstate(all="ignore"):
        if np.issubdtype(a.dtype, np.floating):
            return np.fmod(a, b)
        return np.fmod(a, np.where(b == -1, 1, b))  # the least number % -1 is 0, and traps in numpy


def negate(kind: pa.DataType, a: Vector) -> Vector:
    """Return -a."""
    answer = strict(kind, -a.values, a)
    return refuse(answer, a.values == np.iinfo(dtype_of(kind)).min, OVERFLOW) if kind in WIDTHS else answer


def absolute(kind: pa.DataType, a: Vector) -> Vector:
    """Return abs(a)."""
    answer = strict(kind, np.abs(a.values), a)
    return refuse(answer, a.values == np.iinfo(dtype_of(kind)).min, OVERFLOW) if kind in WIDTHS else answer


def bit_and(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a & b."""
    return strict(kind, a.values & b.values, a, b)


def bit_or(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a | b."""
    return strict(kind, a.values | b.values, a, b)


def bit_xor(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a ^ b."""
    return strict(kind, a.values ^ b.values, a, b)


def bit_not(kind: pa.DataType, a: Vector) -> Vector:
    """Return ~a."""
    return strict(kind, ~a.values, a)


def count_bits(kind: pa.DataType, a: Vector) -> Vector:
    """Return how many bits of a number are set, once it is widened to 64 bits."""
    words = a.values.astype(np.int64).view(np.uint64)
    return strict(kind, np.bitwise_count(words).astype(np.int32), a)


def shift_left(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return shiftleft(a, b): Java takes the number of bits modulo the width."""
    return strict(kind, a.values << _places(kind, b), a, b)


def shift_right(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return shiftright(a, b), with the sign."""
    return strict(kind, a.values >> _places(kind, b), a, b)


def _places(kind: pa.DataType, b: Vector) -> Any:
    return (b.values & (63 if kind == LONG else 31)).astype(dtype_of(kind))
