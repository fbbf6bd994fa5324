"""exp and expm1, and the hyperbolic functions made of them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.arrays import Floats, compile_read_only
from jobs.kernels.fdlibm.logarithms import LN2_HIGH, LN2_LOW
from jobs.kernels.fdlibm.words import INFINITE, MAGNITUDE, high_word, low_word, scale_exponent, with_high_word

PER_LN2: Final = float.fromhex("0x1.71547652b82fep0")
OVERFLOWS: Final = float.fromhex("0x1.62e42fefa39efp9")
UNDERFLOWS: Final = float.fromhex("-0x1.74910d52d3051p9")
P1: Final = float.fromhex("0x1.555555555553ep-3")
P2: Final = float.fromhex("-0x1.6c16c16bebd93p-9")
P3: Final = float.fromhex("0x1.1566aaf25de2cp-14")
P4: Final = float.fromhex("-0x1.bbd41c5d26bf1p-20")
P5: Final = float.fromhex("0x1.6376972bea4d0p-25")
Q1: Final = float.fromhex("-0x1.11111111110f4p-5")
Q2: Final = float.fromhex("0x1.a01a019fe5585p-10")
Q3: Final = float.fromhex("-0x1.4ce199eaadbb7p-14")
Q4: Final = float.fromhex("0x1.0cfca86e65239p-18")
Q5: Final = float.fromhex("-0x1.afdb76e09c32dp-23")
TWO_TO_MINUS_1000: Final = 2.0**-1000


@njit(cache=True, error_model="numpy")
def exp_one(x: float) -> Any:
    """Return e to the power of a number.

    >>> exp_one(1.0)
    2.7182818284590455
    """
    size = high_word(x) & MAGNITUDE
    negative = high_word(x) < 0
    if size >= 0x40862E42:
        if size >= INFINITE:
            if x != x:
                return x + x
            return 0.0 if negative else x
        if x > OVERFLOWS:
            return np.inf
        if x < UNDERFLOWS:
            return 0.0
    k, high, low = 0, 0.0, 0.0
    if size > 0x3FD62E42:
        if size < 0x3FF0A2B2:
            k = -1 if negative else 1
            high, low = (x + LN2_HIGH, -LN2_LOW) if negative else (x - LN2_HIGH, LN2_LOW)
        else:
            k = int(PER_LN2 * x + (-0.5 if negative else 0.5))
            high, low = x - k * LN2_HIGH, k * LN2_LOW
        x = high - low
    elif size < 0x3E300000:
        return 1.0 + x
    t = x * x
    c = x - t * (P1 + t * (P2 + t * (P3 + t * (P4 + t * P5))))
    if k == 0:
        return 1.0 - ((x * c) / (c - 2.0) - x)
    y = 1.0 - ((low - (x * c) / (2.0 - c)) - high)
    if k >= -1021:
        return scale_exponent(y, k)
    return scale_exponent(y, k + 1000) * TWO_TO_MINUS_1000


@njit(cache=True, error_model="numpy")
def expm1_one(x: float) -> Any:
    """Return e to the power of a number, less one.

    >>> expm1_one(1e-20)
    1e-20
    """
    size = high_word(x) & MAGNITUDE
    negative = high_word(x) < 0
    if size >= 0x4043687A:
        if size >= 0x40862E42:
            if size >= INFINITE:
                if x != x:
                    return x + x
                return -1.0 if negative else x
            if x > OVERFLOWS:
                return np.inf
        if negative:
            return -1.0
    k, c = 0, 0.0
    if size > 0x3FD62E42:
        if size < 0x3FF0A2B2:
            k = -1 if negative else 1
            high, low = (x + LN2_HIGH, -LN2_LOW) if negative else (x - LN2_HIGH, LN2_LOW)
        else:
            k = int(PER_LN2 * x + (-0.5 if negative else 0.5))
            high, low = x - k * LN2_HIGH, k * LN2_LOW
        x = high - low
        c = (high - x) - low
    elif size < 0x3C900000:
        return x
    return _expm1_of_parts(x, c, k)


@njit(cache=True, error_model="numpy")
def _expm1_of_parts(x: float, c: float, k: int) -> Any:
    half = 0.5 * x
    square = x * half
    r = 1.0 + square * (Q1 + square * (Q2 + square * (Q3 + square * (Q4 + square * Q5))))
    t = 3.0 - r * half
    e = square * ((r - t) / (6.0 - x * t))
    if k == 0:
        return x - (x * e - square)
    e = x * (e - c) - c
    e -= square
    if k == -1:
        return 0.5 * (x - e) - 0.5
    if k == 1:
        return -2.0 * (e - (x + 0.5)) if x < -0.25 else 1.0 + 2.0 * (x - e)
    if k <= -2 or k > 56:
        return scale_exponent(1.0 - (e - x), k) - 1.0
    if k < 20:
        t = with_high_word(1.0, 0x3FF00000 - (0x200000 >> k))
        return scale_exponent(t - (e - x), k)
    t = with_high_word(1.0, (0x3FF - k) << 20)
    return scale_exponent((x - (e + t)) + 1.0, k)


@njit(cache=True, error_model="numpy")
def _is_within_exp(x: float) -> Any:
    """Return whether half of the exponential of a large number does not overflow, though the exponential may."""
    size = high_word(x) & MAGNITUDE
    return size < 0x408633CE or (size == 0x408633CE and low_word(x) <= 0x8FB9F87D)


@njit(cache=True, error_model="numpy")
def _sinh_one(x: float) -> Any:
    size = high_word(x) & MAGNITUDE
    if size >= INFINITE:
        return x + x
    half = -0.5 if high_word(x) < 0 else 0.5
    if size < 0x40360000:
        if size < 0x3E300000:
            return x
        t = expm1_one(abs(x))
        return half * (2.0 * t - t * t / (t + 1.0)) if size < 0x3FF00000 else half * (t + t / (t + 1.0))
    if size < 0x40862E42:
        return half * exp_one(abs(x))
    if _is_within_exp(x):
        w = exp_one(0.5 * abs(x))
        return (half * w) * w
    return x * 1.0e307


@njit(cache=True, error_model="numpy")
def _cosh_one(x: float) -> Any:
    size = high_word(x) & MAGNITUDE
    if size >= INFINITE:
        return x * x
    if size < 0x3FD62E43:
        t = expm1_one(abs(x))
        w = 1.0 + t
        return w if size < 0x3C800000 else 1.0 + (t * t) / (w + w)
    if size < 0x40360000:
        t = exp_one(abs(x))
        return 0.5 * t + 0.5 / t
    if size < 0x40862E42:
        return 0.5 * exp_one(abs(x))
    if _is_within_exp(x):
        w = exp_one(0.5 * abs(x))
        return (0.5 * w) * w
    return np.inf


@njit(cache=True, error_model="numpy")
def _tanh_one(x: float) -> Any:
    size, negative = high_word(x) & MAGNITUDE, high_word(x) < 0
    if size >= INFINITE:
        return 1.0 / x - 1.0 if negative else 1.0 / x + 1.0
    if size >= 0x40360000:
        return -1.0 if negative else 1.0
    if size < 0x3C800000:
        return x * (1.0 + x)
    if size >= 0x3FF00000:
        z = 1.0 - 2.0 / (expm1_one(2.0 * abs(x)) + 2.0)
    else:
        t = expm1_one(-2.0 * abs(x))
        z = -t / (t + 2.0)
    return -z if negative else z


@compile_read_only
def exp(values: Floats) -> Floats:
    """Return e to the power of numbers.

    >>> exp(np.array([0.0, 1.0])).tolist()
    [1.0, 2.7182818284590455]
    """
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = exp_one(values[i])
    return out


@compile_read_only
def expm1(values: Floats) -> Floats:
    """Return e to the power of numbers, less one.

    >>> expm1(np.array([1e-20])).tolist()
    [1e-20]
    """
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = expm1_one(values[i])
    return out


@compile_read_only
def sinh(values: Floats) -> Floats:
    """Return hyperbolic sines.

    >>> sinh(np.array([0.0])).tolist()
    [0.0]
    """
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = _sinh_one(values[i])
    return out


@compile_read_only
def cosh(values: Floats) -> Floats:
    """Return hyperbolic cosines.

    >>> cosh(np.array([0.0])).tolist()
    [1.0]
    """
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = _cosh_one(values[i])
    return out


@compile_read_only
def tanh(values: Floats) -> Floats:
    """Return hyperbolic tangents.

    >>> tanh(np.array([30.0])).tolist()
    [1.0]
    """
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = _tanh_one(values[i])
    return out
