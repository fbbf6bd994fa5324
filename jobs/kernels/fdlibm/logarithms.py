"""log, log10 and log1p."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.arrays import Floats, compile_read_only
from jobs.kernels.fdlibm.words import INFINITE, MAGNITUDE, Word, high_word, low_word, with_high_word

LN2_HIGH: Final = float.fromhex("0x1.62e42feep-1")
LN2_LOW: Final = float.fromhex("0x1.a39ef35793c76p-33")
L1: Final = float.fromhex("0x1.5555555555593p-1")
L2: Final = float.fromhex("0x1.999999997fa04p-2")
L3: Final = float.fromhex("0x1.2492494229359p-2")
L4: Final = float.fromhex("0x1.c71c51d8e78afp-3")
L5: Final = float.fromhex("0x1.7466496cb03dep-3")
L6: Final = float.fromhex("0x1.39a09d078c69fp-3")
L7: Final = float.fromhex("0x1.2f112df3e5244p-3")
PER_LN10: Final = float.fromhex("0x1.bcb7b1526e50ep-2")
LOG10_2_HIGH: Final = float.fromhex("0x1.34413509f6p-2")
LOG10_2_LOW: Final = float.fromhex("0x1.9fef311f12b36p-42")
TWO54: Final = 2.0**54


@njit(cache=True, error_model="numpy")
def log_one(x: float) -> Any:
    """Return the natural logarithm of a number.

    >>> log_one(10.0)
    2.302585092994046
    """
    high, k = high_word(x), 0
    if high < 0x00100000:
        if ((high & MAGNITUDE) | low_word(x)) == 0:
            return -np.inf
        if high < 0:
            return np.nan
        k -= 54
        x *= TWO54
        high = high_word(x)
    if high >= INFINITE:
        return x + x
    k += (high >> 20) - 1023
    high &= 0xFFFFF
    i = (high + 0x95F64) & 0x100000
    x = with_high_word(x, high | (i ^ 0x3FF00000))
    k += i >> 20
    f, dk = x - 1.0, float(k)
    if (0xFFFFF & (2 + high)) < 3:  # x is within 2**-20 of a power of two
        return _log_near_power(f, k)
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    t1 = w * (L2 + w * (L4 + w * L6))
    t2 = z * (L1 + w * (L3 + w * (L5 + w * L7)))
    r = t2 + t1
    if ((high - 0x6147A) | (0x6B851 - high)) > 0:
        half_square = 0.5 * f * f
        if k == 0:
            return f - (half_square - s * (half_square + r))
        return dk * LN2_HIGH - ((half_square - (s * (half_square + r) + dk * LN2_LOW)) - f)
    if k == 0:
        return f - s * (f - r)
    return dk * LN2_HIGH - ((s * (f - r) - dk * LN2_LOW) - f)


@njit(cache=True, error_model="numpy")
def _log_near_power(f: float, k: Word) -> Any:
    dk = float(k)
    if f == 0.0:
        return 0.0 if k == 0 else dk * LN2_HIGH + dk * LN2_LOW
    r = f * f * (0.5 - 0.33333333333333333 * f)
    if k == 0:
        return f - r
    return dk * LN2_HIGH - ((r - dk * LN2_LOW) - f)


@njit(cache=True, error_model="numpy")
def _log10_one(x: float) -> Any:
    high, k = high_word(x), 0
    if high < 0x00100000:
        if ((high & MAGNITUDE) | low_word(x)) == 0:
            return -np.inf
        if high < 0:
            return np.nan
        k -= 54
        x *= TWO54
        high = high_word(x)
    if high >= INFINITE:
        return x + x
    k += (high >> 20) - 1023
    i = 1 if k < 0 else 0
    y = float(k + i)
    x = with_high_word(x, (high & 0xFFFFF) | ((0x3FF - i) << 20))
    z = y * LOG10_2_LOW + PER_LN10 * log_one(x)
    return z + y * LOG10_2_HIGH


@njit(cache=True, error_model="numpy")
def _log1p_one(x: float) -> Any:
    high = high_word(x)
    size = high & MAGNITUDE
    k: Word = 1
    mantissa: Word = np.int64(0)
    f, c = 0.0, 0.0
    if high < 0x3FDA827A:
        if size >= 0x3FF00000:
            return -np.inf if x == -1.0 else np.nan
        if size < 0x3E200000:
            return x if size < 0x3C900000 else x - x * x * 0.5
        if high > 0 or high <= -0x402D413D:  # 0xbfd2bec3 as a signed word
            k, f, mantissa = 0, x, np.int64(1)
    if high >= INFINITE:
        return x + x
    if k != 0:
        if high < 0x43400000:
            u = 1.0 + x
            mantissa = high_word(u)
            k = (mantissa >> 20) - 1023
            c = (1.0 - (u - x) if k > 0 else x - (u - 1.0)) / u
        else:
            u = x
            mantissa = high_word(u)
            k = (mantissa >> 20) - 1023
        mantissa &= 0xFFFFF
        if mantissa < 0x6A09E:
            u = with_high_word(u, mantissa | 0x3FF00000)
        else:
            k += 1
            u = with_high_word(u, mantissa | 0x3FE00000)
            mantissa = (0x100000 - mantissa) >> 2
        f = u - 1.0
    return _log1p_of_parts(f, c, k, mantissa)


@njit(cache=True, error_model="numpy")
def _log1p_of_parts(f: float, c: float, k: Word, mantissa: Word) -> Any:
    half_square = 0.5 * f * f
    if mantissa == 0:
        if f == 0.0:
            return 0.0 if k == 0 else k * LN2_HIGH + (c + k * LN2_LOW)
        r = half_square * (1.0 - 0.66666666666666666 * f)
        return f - r if k == 0 else k * LN2_HIGH - ((r - (k * LN2_LOW + c)) - f)
    s = f / (2.0 + f)
    z = s * s
    r = z * (L1 + z * (L2 + z * (L3 + z * (L4 + z * (L5 + z * (L6 + z * L7))))))
    if k == 0:
        return f - (half_square - s * (half_square + r))
    return k * LN2_HIGH - ((half_square - (s * (half_square + r) + (k * LN2_LOW + c))) - f)


@compile_read_only
def log(values: Floats) -> Floats:
    """Return natural logarithms.

    >>> log(np.array([1.0, 2.0])).tolist()
    [0.0, 0.6931471805599453]
    """
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = log_one(values[i])
    return out


@compile_read_only
def log10(values: Floats) -> Floats:
    """Return logarithms to the base 10.

    >>> log10(np.array([1000.0])).tolist()
    [3.0]
    """
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = _log10_one(values[i])
    return out


@compile_read_only
def log1p(values: Floats) -> Floats:
    """Return logarithms of one more.

    >>> log1p(np.array([1e-20])).tolist()
    [1e-20]
    """
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = _log1p_one(values[i])
    return out
