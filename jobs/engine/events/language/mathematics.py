"""Mathematics of doubles: Java's StrictMath to the bit, and what Java leaves to the processor within its last digit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.engine.events.language.vectors import DOUBLE, Vector, nullify, strict
from jobs.kernels.fdlibm import angles, exponentials, logarithms, powers

Function = Callable[..., Any]
DEGREES, RADIANS = 57.29577951308232, 0.017453292519943295  # as java.lang.Math has them


def _frozen(values: Any) -> Any:
    """Return an array that is contiguous and may not be written to: numba compiles a kernel for one type alone."""
    array = np.ascontiguousarray(values).view()
    array.flags.writeable = False
    return array


def unary(function: Function) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel of a function of one double."""

    def evaluate(kind: pa.DataType, a: Vector) -> Vector:
        with np.errstate(all="ignore"):
            return strict(DOUBLE, function(_frozen(a.values)), a)

    return evaluate


def binary(function: Function) -> Callable[[pa.DataType, Vector, Vector], Vector]:
    """Return the kernel of a function of two doubles."""

    def evaluate(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
        with np.errstate(all="ignore"):
            return strict(DOUBLE, function(*map(_frozen, np.broadcast_arrays(a.values, b.values))), a, b)

    return evaluate


def logarithm(function: Function, least: float = 0.0) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel of a logarithm, which is null in Spark where it is not defined."""

    def evaluate(kind: pa.DataType, a: Vector) -> Vector:
        undefined = a.values <= least
        return nullify(
            strict(DOUBLE, function(_frozen(np.where(undefined, 1.0, a.values) if undefined.any() else a.values)), a),
            undefined,
        )

    return evaluate


def log_of_base(kind: pa.DataType, base: Vector, a: Vector) -> Vector:
    """Return log(base, a)."""
    undefined = (base.values <= 0) | (a.values <= 0)
    with np.errstate(all="ignore"):
        logs = [logarithms.log(_frozen(np.where(side.values <= 0, 1.0, side.values))) for side in (a, base)]
        return nullify(strict(DOUBLE, logs[0] / logs[1], base, a), undefined)


def sign(kind: pa.DataType, a: Vector) -> Vector:
    """Return signum(a), which keeps zeros and NaN as they are."""
    return strict(DOUBLE, np.where(a.values == 0, a.values, np.sign(a.values)), a)


ln = logarithm(logarithms.log)
log10 = logarithm(logarithms.log10)
log1p = logarithm(logarithms.log1p, -1.0)
log2 = logarithm(lambda values: logarithms.log(values) / logarithms.log(_frozen(np.array([2.0]))))
exp, expm1 = unary(exponentials.exp), unary(exponentials.expm1)
power = binary(powers.power)
cbrt = unary(powers.cube_root)
hypot = binary(powers.hypotenuse)
asin, acos, atan = unary(angles.arcsine), unary(angles.arccosine), unary(angles.arctangent)
atan2 = binary(lambda y, x: angles.arctangent2(_frozen(y + 0.0), _frozen(x + 0.0)))
sinh, cosh, tanh = unary(exponentials.sinh), unary(exponentials.cosh), unary(exponentials.tanh)
sin, cos, tan, square_root = unary(np.sin), unary(np.cos), unary(np.tan), unary(np.sqrt)
degrees = unary(lambda values: values * DEGREES)
radians = unary(lambda values: values * RADIANS)
rint = unary(np.rint)
