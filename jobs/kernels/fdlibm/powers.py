"""Powers, cube roots and hypotenuses."""

from __future__ import annotations

from math import ldexp, sqrt
from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.arrays import Floats, compile_read_only
from jobs.kernels.fdlibm.exponentials import P1, P2, P3, P4, P5
from jobs.kernels.fdlibm.words import (
    MAGNITUDE,
    Word,
    cut_low_word,
    high_word,
    low_word,
    scale_exponent,
    with_high_word,
)

CBRT_C: Final = float.fromhex("0x1.15f15f15f15f1p-1")
CBRT_D: Final = float.fromhex("-0x1.691de2532c834p-1")
CBRT_E: Final = float.fromhex("0x1.6a0ea0ea0ea0fp0")
CBRT_F: Final = float.fromhex("0x1.9b6db6db6db6ep0")
CBRT_G: Final = float.fromhex("0x1.6db6db6db6db7p-2")
PER_LN2: Final = float.fromhex("0x1.71547652b82fep0")
PER_LN2_HIGH: Final = float.fromhex("0x1.715476p0")
PER_LN2_LOW: Final = float.fromhex("0x1.4ae0bf85ddf44p-26")
CP: Final = float.fromhex("0x1.ec709dc3a03fdp-1")  # 2 / (3 ln 2)
CP_HIGH: Final = float.fromhex("0x1.ec709ep-1")
CP_LOW: Final = float.fromhex("-0x1.e2fe0145b01f5p-28")
LOG_3_HALVES_HIGH: Final = float.fromhex("0x1.2b8034p-1")
LOG_3_HALVES_LOW: Final = float.fromhex("0x1.cfdeb43cfd006p-27")
L1: Final = float.fromhex("0x1.3333333333303p-1")
L2: Final = float.fromhex("0x1.b6db6db6fabffp-2")
L3: Final = float.fromhex("0x1.55555518f264dp-2")
L4: Final = float.fromhex("0x1.17460a91d4101p-2")
L5: Final = float.fromhex("0x1.d864a93c9db65p-3")
L6: Final = float.fromhex("0x1.a7e284a454eefp-3")
LN2: Final = float.fromhex("0x1.62e42fefa39efp-1")
LN2_HIGH: Final = float.fromhex("0x1.62e43p-1")
LN2_LOW: Final = float.fromhex("-0x1.05c610ca86c39p-29")
OVERFLOW_TAIL: Final = 8.0085662595372944372e-17
ABOUT_ONE: Final = float.fromhex("0x1.00000ffffffffp0")
BELOW_ONE: Final = float.fromhex("0x1.fffffp-1")
LEAST_NORMAL: Final = 2.0**-1022
LARGEST: Final = float(np.finfo(np.float64).max)


@njit(cache=True, error_model="numpy")
def _whole_exponent(y: float) -> Word:
    """Return 2 for an even whole number, 1 for an odd one, and 0 for a number that is not whole."""
    size = abs(y)
    if size >= 2.0**53:
        return 2
    if size >= 1.0:
        whole = np.int64(size)
        if float(whole) == size:
            return 2 - (whole & 1)
    return 0


@njit(cache=True, error_model="numpy")
def _log2_near_one(size: float) -> tuple[float, float]:
    """Return the logarithm to the base 2 of a number next to 1, in two parts."""
    t = size - 1.0
    w = (t * t) * (0.5 - t * (0.3333333333333333333333 - t * 0.25))
    u = PER_LN2_HIGH * t
    v = t * PER_LN2_LOW - w * PER_LN2
    head = cut_low_word(u + v)
    return head, v - (head - u)


@njit(cache=True, error_model="numpy")
def _log2(size: float) -> tuple[float, float]:
    """Return the logarithm to the base 2 of a positive number, in two parts.

    The number is 2 to the n, times 1 or 1.5, times a number near 1, whose logarithm is that of its ratio by a series.
    """
    n, k, size = _split_near_one(size)
    base, dp_high, dp_low = (1.5, LOG_3_HALVES_HIGH, LOG_3_HALVES_LOW) if k else (1.0, 0.0, 0.0)
    p_high, p_low = _log_of_ratio(size, base, k)
    z_high = CP_HIGH * p_high
    z_low = CP_LOW * p_high + p_low * CP + dp_low
    t = float(n)
    head = cut_low_word(((z_high + z_low) + dp_high) + t)
    return head, z_low - (((head - t) - dp_high) - z_high)


@njit(cache=True, error_model="numpy")
def _split_near_one(size: float) -> tuple[int, int, float]:
    """Return n, k and the rest of a positive number: 2 to the n times a rest near 1, or near 1.5 where k is 1."""
    n, high = 0, high_word(size)
    if high < 0x00100000:
        size *= 2.0**53
        n -= 53
        high = high_word(size)
    n += (high >> 20) - 0x3FF
    j = high & 0xFFFFF
    high = j | 0x3FF00000
    k = 0
    if j > 0x3988E:
        if j < 0xBB67A:
            k = 1
        else:
            n += 1
            high -= 0x00100000
    return n, k, with_high_word(size, high)


@njit(cache=True, error_model="numpy")
def _log_of_ratio(size: float, base: float, k: int) -> tuple[float, float]:
    """Return one and a half times the natural logarithm of a number over the base that it is near to, in two parts."""
    u = size - base
    v = 1.0 / (size + base)
    ss = u * v
    s_high = cut_low_word(ss)
    t_high = with_high_word(0.0, ((high_word(size) >> 1) | 0x20000000) + 0x00080000 + (k << 18))
    t_low = size - (t_high - base)
    s_low = v * ((u - s_high * t_high) - s_high * t_low)
    s2 = ss * ss
    r = s2 * s2 * (L1 + s2 * (L2 + s2 * (L3 + s2 * (L4 + s2 * (L5 + s2 * L6)))))
    r += s_low * (s_high + ss)
    s2 = s_high * s_high
    t_high = cut_low_word(3.0 + s2 + r)
    t_low = r - ((t_high - 3.0) - s2)
    u = s_high * t_high
    v = s_low * t_high + t_low * ss
    p_high = cut_low_word(u + v)
    return p_high, v - (p_high - u)


@njit(cache=True, error_model="numpy")
def _exp2(p_high: float, p_low: float, sign: float) -> Any:
    """Return 2 to the power of a number in two parts, with a sign."""
    z = p_low + p_high
    j, low = high_word(z), low_word(z)
    if j >= 0x40900000:
        if ((j - 0x40900000) | low) != 0 or p_low + OVERFLOW_TAIL > z - p_high:
            return sign * np.inf
    elif (j & MAGNITUDE) >= 0x4090CC00 and (((j & 0xFFFFFFFF) - 0xC090CC00) | low != 0 or p_low <= z - p_high):
        return sign * 0.0
    n: Word = np.int64(0)
    size = j & MAGNITUDE
    k = (size >> 20) - 0x3FF
    if size > 0x3FE00000:
        n = j + (np.int64(0x00100000) >> (k + 1))
        k = ((n & MAGNITUDE) >> 20) - 0x3FF
        t = with_high_word(0.0, n & ~(np.int64(0x000FFFFF) >> k))
        n = ((n & 0xFFFFF) | 0x00100000) >> (20 - k)
        if j < 0:
            n = -n
        p_high -= t
    t = cut_low_word(p_low + p_high)
    u = t * LN2_HIGH
    v = (p_low - (t - p_high)) * LN2 + t * LN2_LOW
    z = u + v
    w = v - (z - u)
    t = z * z
    t1 = z - t * (P1 + t * (P2 + t * (P3 + t * (P4 + t * P5))))
    r = (z * t1) / (t1 - 2.0) - (w + z * w)
    z = 1.0 - (r - z)
    if ((high_word(z) + (n << 20)) >> 20) <= 0:
        return sign * ldexp(z, n)
    return sign * scale_exponent(z, n)


@njit(cache=True, error_model="numpy")
def _power_one(x: float, y: float) -> Any:
    if y == 0.0:
        return 1.0
    if x != x or y != y:
        return x + y
    size, size_y = abs(x), abs(y)
    if y == 2.0:
        return x * x
    if y == 0.5 and x >= -LARGEST:
        return sqrt(x + 0.0)
    if size_y == 1.0:
        return x if y == 1.0 else _inverse(x)
    if size_y == np.inf:
        if size == 1.0:
            return np.nan
        return np.inf if (size > 1.0) == (y > 0) else 0.0
    negative = high_word(x) < 0
    whole = _whole_exponent(y) if negative else 0
    if size == 0.0 or size == np.inf or size == 1.0:
        z = _inverse(size) if y < 0.0 else size
        if negative:
            if size == 1.0 and whole == 0:
                return np.nan
            if whole == 1:
                z = -z
        return z
    if negative and whole == 0:
        return np.nan
    sign = -1.0 if negative and whole == 1 else 1.0
    if size_y > ABOUT_ONE * 2.0**31:
        if size < BELOW_ONE:
            return sign * np.inf if y < 0.0 else sign * 0.0
        if size > ABOUT_ONE:
            return sign * np.inf if y > 0.0 else sign * 0.0
        t1, t2 = _log2_near_one(size)
    else:
        t1, t2 = _log2(size)
    y1 = cut_low_word(y)
    return _exp2(y1 * t1, (y - y1) * t1 + y * t2, sign)


@njit(cache=True, error_model="numpy")
def _inverse(x: float) -> Any:
    if x == 0.0:
        return -np.inf if high_word(x) < 0 else np.inf
    return 1.0 / x


@njit(cache=True, error_model="numpy")
def _cube_root_one(x: float) -> Any:
    if x == 0.0 or not np.isfinite(x):
        return x
    size = abs(x)
    if size < LEAST_NORMAL:
        t = 2.0**54 * size
        t = with_high_word(t, high_word(t) // 3 + 696219795)
    else:
        t = with_high_word(0.0, high_word(size) // 3 + 715094163)
    r = t * t / size
    s = CBRT_C + r * t
    t *= CBRT_G + CBRT_F / (s + CBRT_E + CBRT_D / s)
    t = cut_low_word(t)
    t = with_high_word(t, high_word(t) + 1)
    s = t * t
    r = size / s
    w = t + t
    r = (r - t) / (w + r)
    t = t + t * r
    return -t if x < 0.0 else t


@njit(cache=True, error_model="numpy")
def _hypotenuse_one(x: float, y: float) -> Any:
    a, b = abs(x), abs(y)
    if not (np.isfinite(a) and np.isfinite(b)):
        return np.inf if a == np.inf or b == np.inf else a + b
    if b > a:
        a, b = b, a
    high_a, high_b = high_word(a), high_word(b)
    if high_a - high_b > 0x3C00000:
        return a + b
    k = 0
    if a > ABOUT_ONE * 2.0**500:
        high_a -= 0x25800000
        high_b -= 0x25800000
        a, b, k = a * 2.0**-600, b * 2.0**-600, 600
    if b < 2.0**-500:
        if b < LEAST_NORMAL:
            if b == 0.0:
                return a
            a, b = a * 2.0**1022, b * 2.0**1022
            k -= 1022
            high_a, high_b = high_word(a), high_word(b)
        else:
            high_a += 0x25800000
            high_b += 0x25800000
            a, b = a * 2.0**600, b * 2.0**600
            k -= 600
    w = a - b
    if w > b:
        t1 = with_high_word(0.0, high_a)
        t2 = a - t1
        w = sqrt(t1 * t1 - (b * (-b) - t2 * (a + t1)))
    else:
        a = a + a
        y1 = with_high_word(0.0, high_b)
        y2 = b - y1
        t1 = with_high_word(0.0, high_a + 0x00100000)
        t2 = a - t1
        w = sqrt(t1 * y1 - (w * (-w) - (t1 * y2 + t2 * b)))
    return w * 2.0**k if k else w


@compile_read_only
def power(x: Floats, y: Floats) -> Floats:
    """Return powers.

    >>> power(np.array([2.0, 10.0]), np.array([0.5, -3.0])).tolist()
    [1.4142135623730951, 0.001]
    """
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = _power_one(x[i], y[i])
    return out


@compile_read_only
def cube_root(values: Floats) -> Floats:
    """Return cube roots.

    >>> cube_root(np.array([27.0, -8.0])).tolist()
    [3.0, -2.0]
    """
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = _cube_root_one(values[i])
    return out


@compile_read_only
def hypotenuse(x: Floats, y: Floats) -> Floats:
    """Return the lengths of vectors.

    >>> hypotenuse(np.array([3.0]), np.array([4.0])).tolist()
    [5.0]
    """
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = _hypotenuse_one(x[i], y[i])
    return out
