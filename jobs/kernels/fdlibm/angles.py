"""Arcsine, arccosine and arctangent."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.arrays import Floats, compile_read_only
from jobs.kernels.fdlibm.words import INFINITE, MAGNITUDE, cut_low_word, high_word

HALF_PI_HIGH: Final = float.fromhex("0x1.921fb54442d18p0")
HALF_PI_LOW: Final = float.fromhex("0x1.1a62633145c07p-54")
QUARTER_PI: Final = float.fromhex("0x1.921fb54442d18p-1")
PI_LOW: Final = float.fromhex("0x1.1a62633145c07p-53")
P0: Final = float.fromhex("0x1.5555555555555p-3")
P1: Final = float.fromhex("-0x1.4d61203eb6f7dp-2")
P2: Final = float.fromhex("0x1.9c1550e884455p-3")
P3: Final = float.fromhex("-0x1.48228b5688f3bp-5")
P4: Final = float.fromhex("0x1.9efe07501b288p-11")
P5: Final = float.fromhex("0x1.23de10dfdf709p-15")
Q1: Final = float.fromhex("-0x1.33a271c8a2d4bp1")
Q2: Final = float.fromhex("0x1.02ae59c598ac8p1")
Q3: Final = float.fromhex("-0x1.6066c1b8d0159p-1")
Q4: Final = float.fromhex("0x1.3b8c5b12e9282p-4")
ATAN_HIGH: Final = np.array(
    [float.fromhex(text) for text in ("0x1.dac670561bb4fp-2", "0x1.921fb54442d18p-1", "0x1.f730bd281f69bp-1")]
    + [HALF_PI_HIGH]
)
ATAN_LOW: Final = np.array(
    [float.fromhex(text) for text in ("0x1.a2b7f222f65e2p-56", "0x1.1a62633145c07p-55", "0x1.007887af0cbbdp-56")]
    + [HALF_PI_LOW]
)
A: Final = np.array(
    [
        float.fromhex(text)
        for text in (
            "0x1.555555555550dp-2",
            "-0x1.999999998ebc4p-3",
            "0x1.24924920083ffp-3",
            "-0x1.c71c6fe231671p-4",
            "0x1.745cdc54c206ep-4",
            "-0x1.3b0f2af749a6dp-4",
            "0x1.10d66a0d03d51p-4",
            "-0x1.dde2d52defd9ap-5",
            "0x1.97b4b24760debp-5",
            "-0x1.2b4442c6a6c2fp-5",
            "0x1.0ad3ae322da11p-6",
        )
    ]
)


@njit(cache=True, error_model="numpy")
def _ratio(t: float) -> float:
    """Return (asin(x) - x) / x of t = x * x."""
    p = t * (P0 + t * (P1 + t * (P2 + t * (P3 + t * (P4 + t * P5)))))
    q = 1.0 + t * (Q1 + t * (Q2 + t * (Q3 + t * Q4)))
    return p / q


@njit(cache=True, error_model="numpy")
def _arcsine_one(x: float) -> Any:
    high = high_word(x)
    size = high & MAGNITUDE
    if size >= 0x3FF00000:
        return x * HALF_PI_HIGH + x * HALF_PI_LOW if abs(x) == 1.0 else np.nan
    if size < 0x3FE00000:
        return x if size < 0x3E400000 else x + x * _ratio(x * x)
    t = (1.0 - abs(x)) * 0.5
    s, ratio = sqrt(t), _ratio(t)
    if size >= 0x3FEF3333:
        t = HALF_PI_HIGH - (2.0 * (s + s * ratio) - HALF_PI_LOW)
    else:
        w = cut_low_word(s)
        c = (t - w * w) / (s + w)
        p = 2.0 * s * ratio - (HALF_PI_LOW - 2.0 * c)
        t = QUARTER_PI - (p - (QUARTER_PI - 2.0 * w))
    return t if high > 0 else -t


@njit(cache=True, error_model="numpy")
def _arccosine_one(x: float) -> Any:
    high = high_word(x)
    size = high & MAGNITUDE
    if size >= 0x3FF00000:
        if abs(x) == 1.0:
            return 0.0 if high > 0 else pi + 2.0 * HALF_PI_LOW
        return np.nan
    if size < 0x3FE00000:
        if size <= 0x3C600000:
            return HALF_PI_HIGH + HALF_PI_LOW
        return HALF_PI_HIGH - (x - (HALF_PI_LOW - x * _ratio(x * x)))
    if high < 0:
        z = (1.0 + x) * 0.5
        s = sqrt(z)
        return pi - 2.0 * (s + (_ratio(z) * s - HALF_PI_LOW))
    z = (1.0 - x) * 0.5
    s = sqrt(z)
    cut = cut_low_word(s)
    c = (z - cut * cut) / (s + cut)
    return 2.0 * (cut + (_ratio(z) * s + c))


@njit(cache=True, error_model="numpy")
def _arctangent_one(x: float) -> Any:
    high = high_word(x)
    size = high & MAGNITUDE
    if size >= 0x44100000:
        if x != x:
            return x + x
        return ATAN_HIGH[3] + ATAN_LOW[3] if high > 0 else -ATAN_HIGH[3] - ATAN_LOW[3]
    place = -1
    if size < 0x3FDC0000:
        if size < 0x3E200000:
            return x
    else:
        x = abs(x)
        if size < 0x3FE60000:
            place, x = 0, (2.0 * x - 1.0) / (2.0 + x)
        elif size < 0x3FF30000:
            place, x = 1, (x - 1.0) / (x + 1.0)
        elif size < 0x40038000:
            place, x = 2, (x - 1.5) / (1.0 + 1.5 * x)
        else:
            place, x = 3, -1.0 / x
    z = x * x
    w = z * z
    s1 = z * (A[0] + w * (A[2] + w * (A[4] + w * (A[6] + w * (A[8] + w * A[10])))))
    s2 = w * (A[1] + w * (A[3] + w * (A[5] + w * (A[7] + w * A[9]))))
    if place < 0:
        return x - x * (s1 + s2)
    z = ATAN_HIGH[place] - ((x * (s1 + s2) - ATAN_LOW[place]) - x)
    return -z if high < 0 else z


@njit(cache=True, error_model="numpy")
def _arctangent2_one(y: float, x: float) -> Any:
    if x != x or y != y:
        return x + y
    if x == 1.0:
        return _arctangent_one(y)
    left, below = high_word(x) < 0, high_word(y) < 0
    if y == 0.0:
        return (-pi if below else pi) if left else y
    if x == 0.0:
        return -HALF_PI_HIGH if below else HALF_PI_HIGH
    size_x, size_y = high_word(x) & MAGNITUDE, high_word(y) & MAGNITUDE
    if size_x == INFINITE:
        angle = 0.0
        if size_y == INFINITE:
            angle = 3.0 * QUARTER_PI if left else QUARTER_PI
        elif left:
            angle = pi
        return -angle if below else angle
    if size_y == INFINITE:
        return -HALF_PI_HIGH if below else HALF_PI_HIGH
    k = (size_y - size_x) >> 20
    if k > 60:
        z = HALF_PI_HIGH + 0.5 * PI_LOW
    elif left and k < -60:
        z = 0.0
    else:
        z = _arctangent_one(abs(y / x))
    if left:
        return (z - PI_LOW) - pi if below else pi - (z - PI_LOW)
    return -z if below else z


@compile_read_only
def arcsine(values: Floats) -> Floats:
    """Return arcsines.

    >>> arcsine(np.array([0.5, 2.0])).tolist()
    [0.5235987755982989, nan]
    """
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = _arcsine_one(values[i])
    return out


@compile_read_only
def arccosine(values: Floats) -> Floats:
    """Return arccosines.

    >>> arccosine(np.array([1.0])).tolist()
    [0.0]
    """
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = _arccosine_one(values[i])
    return out


@compile_read_only
def arctangent(values: Floats) -> Floats:
    """Return arctangents.

    >>> arctangent(np.array([1.0])).tolist()
    [0.7853981633974483]
    """
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = _arctangent_one(values[i])
    return out


@compile_read_only
def arctangent2(y: Floats, x: Floats) -> Floats:
    """Return the angles of points.

    >>> arctangent2(np.array([1.0]), np.array([-1.0])).tolist()
    [2.356194490192345]
    """
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = _arctangent2_one(y[i], x[i])
    return out
