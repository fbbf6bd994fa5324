"""Mathematics of doubles: Java's StrictMath to the bit, and what Java leaves to the processor within its last digit.

Rounding works on the decimal form of a number, half away from zero or half to even, as Java's BigDecimal does.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.engine.events.language.arithmetic import OVERFLOW
from jobs.engine.events.language.casts import lies_within, saturate
from jobs.engine.events.language.decimals import rescale
from jobs.engine.events.language.vectors import DOUBLE, LONG, WIDTHS, Vector, dtype_of, nullify, refuse, strict
from jobs.kernels.fdlibm import angles, exponentials, logarithms, powers

Function = Callable[..., Any]
DEGREES, RADIANS = 57.29577951308232, 0.017453292519943295  # as java.lang.Math has them
EXACT = 2.0**52  # below it, a double and its half are told apart
POWERS = 22  # 10 to this power is the largest that is a double
WIDE = Context(prec=800)
Kernel = Callable[[pa.DataType, Vector], Vector]


def unary(function: Function) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel of a function of one double."""

    def evaluate(kind: pa.DataType, a: Vector) -> Vector:
        with np.errstate(all="ignore"):
            return strict(DOUBLE, function(a.values), a)

    return evaluate


def binary(function: Function) -> Callable[[pa.DataType, Vector, Vector], Vector]:
    """Return the kernel of a function of two doubles."""

    def evaluate(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
        with np.errstate(all="ignore"):
            return strict(DOUBLE, function(*np.broadcast_arrays(a.values, b.values)), a, b)

    return evaluate


def logarithm(function: Function, least: float = 0.0) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel of a logarithm, which is null in Spark where it is not defined."""

    def evaluate(kind: pa.DataType, a: Vector) -> Vector:
        undefined = a.values <= least
        return nullify(
            strict(DOUBLE, function(np.where(undefined, 1.0, a.values) if undefined.any() else a.values), a),
            undefined,
        )

    return evaluate


def log_of_base(kind: pa.DataType, base: Vector, a: Vector) -> Vector:
    """Return log(base, a)."""
    undefined = (base.values <= 0) | (a.values <= 0)
    with np.errstate(all="ignore"):
        logs = [logarithms.log(np.where(side.values <= 0, 1.0, side.values)) for side in (a, base)]
        return nullify(strict(DOUBLE, logs[0] / logs[1], base, a), undefined)


def sign(kind: pa.DataType, a: Vector) -> Vector:
    """Return signum(a), which keeps zeros and NaN as they are."""
    return strict(DOUBLE, np.where(a.values == 0, a.values, np.sign(a.values)), a)


ln = logarithm(logarithms.log)
log10 = logarithm(logarithms.log10)
log1p = logarithm(logarithms.log1p, -1.0)
log2 = logarithm(lambda values: logarithms.log(values) / logarithms.log(np.array([2.0])))
exp, expm1 = unary(exponentials.exp), unary(exponentials.expm1)
power = binary(powers.power)
cbrt = unary(powers.cube_root)
hypot = binary(powers.hypotenuse)
asin, acos, atan = unary(angles.arcsine), unary(angles.arccosine), unary(angles.arctangent)
atan2 = binary(lambda y, x: angles.arctangent2(y + 0.0, x + 0.0))
sinh, cosh, tanh = unary(exponentials.sinh), unary(exponentials.cosh), unary(exponentials.tanh)
sin, cos, tan, square_root = unary(np.sin), unary(np.cos), unary(np.tan), unary(np.sqrt)
degrees = unary(lambda values: values * DEGREES)
radians = unary(lambda values: values * RADIANS)
rint = unary(np.rint)


def round_to(digits: int, to_even: bool) -> Kernel:
    """Return the kernel of round or bround to some digits behind the point, or before it where they are negative."""

    def evaluate(kind: pa.DataType, a: Vector) -> Vector:
        if kind in WIDTHS:
            return _round_whole(kind, a, -digits, to_even) if digits < 0 else a
        values = _round_floats(a.values.astype(np.float64), digits, to_even)
        return strict(kind, values.astype(dtype_of(kind)), a)

    return evaluate


def _round_floats(values: Any, digits: int, to_even: bool) -> Any:
    """Return doubles rounded; where a double is so close to a half that its last digits decide, they are asked."""
    if not -POWERS <= digits <= POWERS:
        return _round_exactly(values, digits, to_even)
    unit = 10.0 ** abs(digits)
    with np.errstate(all="ignore"):
        scaled = np.abs(values) * unit if digits >= 0 else np.abs(values) / unit
        whole = np.floor(scaled + 0.5)
        rounded = whole / unit if digits >= 0 else whole * unit
        doubtful = ~(np.abs(scaled - np.floor(scaled) - 0.5) > scaled * 1e-15 + 1e-300) | ~(scaled < EXACT)
    answer = np.where(whole == 0, 0.0, np.copysign(rounded, values))
    places = np.flatnonzero(doubtful)
    if len(places):
        answer[places] = _round_exactly(values[places], digits, to_even)
    return answer


def _round_exactly(values: Any, digits: int, to_even: bool) -> Any:
    mode = ROUND_HALF_EVEN if to_even else ROUND_HALF_UP
    unit = Decimal(1).scaleb(-digits, WIDE)
    return np.array([_round_one(value, unit, mode) for value in values.tolist()], np.float64)


def _round_one(value: float, unit: Decimal, mode: str) -> float:
    if not np.isfinite(value):
        return value
    return float(Decimal(repr(value)).quantize(unit, mode, WIDE)) + 0.0


def _round_whole(kind: pa.DataType, a: Vector, digits: int, to_even: bool) -> Vector:
    """Return whole numbers rounded to a power of ten."""
    if digits > 19:
        return strict(kind, np.zeros_like(a.values), a)
    unit = 10**digits
    values = a.values.astype(object) if digits > 17 or kind == LONG else a.values.astype(np.int64)
    if to_even:
        floor = values // unit
        twice = 2 * (values - floor * unit)
        up = (twice > unit) | ((twice == unit) & (floor % 2 != 0))
        rounded = (floor + up) * unit
    else:
        rounded = rescale(values, digits, 0) * unit
    limits = np.iinfo(dtype_of(kind))
    beyond = np.asarray((rounded < limits.min) | (rounded > limits.max), np.bool_)
    return refuse(strict(kind, np.where(beyond, 0, rounded).astype(dtype_of(kind)), a), beyond, OVERFLOW)


def ceiling(kind: pa.DataType, a: Vector) -> Vector:
    """Return ceil(a) as a bigint, of NaN 0."""
    return a if a.type == LONG else _as_long(a, np.ceil(a.values))


def floor(kind: pa.DataType, a: Vector) -> Vector:
    """Return floor(a) as a bigint, of NaN 0."""
    return a if a.type == LONG else _as_long(a, np.floor(a.values))


def _as_long(a: Vector, values: Any) -> Vector:
    answer = strict(LONG, saturate(values), a)
    if lies_within(values, -(2.0**62), 2.0**62):
        return answer
    return refuse(answer, (values >= 2.0**63) | (values < -(2.0**63)), OVERFLOW)
