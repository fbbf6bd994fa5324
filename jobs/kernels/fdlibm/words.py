"""Doubles as two words of 32 bits, which the algorithms test and replace."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Word = Any  # an int64: numba tells it from a literal
LOW: Word = np.int64(0xFFFFFFFF)
MAGNITUDE: Word = np.int64(0x7FFFFFFF)
INFINITE: Word = np.int64(0x7FF00000)  # the high word of infinity; that of NaN is at least as high


@njit(cache=True, inline="always")
def bits_of(x: float) -> Word:
    """Return the bits of a double.

    >>> hex(bits_of(1.0))
    '0x3ff0000000000000'
    """
    return np.float64(x).view(np.int64)


@njit(cache=True, inline="always")
def from_bits(bits: Word) -> float:
    """Return the double of some bits.

    >>> from_bits(0x3FF8000000000000)
    1.5
    """
    return float(np.int64(bits).view(np.float64))


@njit(cache=True, inline="always")
def high_word(x: float) -> Word:
    """Return sign, exponent and the first 20 bits after the point, as a signed number.

    >>> hex(high_word(1.0)), high_word(-1.0) < 0
    ('0x3ff00000', True)
    """
    return bits_of(x) >> 32


@njit(cache=True, inline="always")
def low_word(x: float) -> Word:
    """Return the last 32 bits.

    >>> hex(low_word(0.1))
    '0x9999999a'
    """
    return bits_of(x) & LOW


@njit(cache=True, inline="always")
def with_high_word(x: float, high: Word) -> float:
    """Return a double with another high word.

    >>> with_high_word(1.5, 0x40000000)
    2.0
    """
    return float(from_bits((bits_of(x) & LOW) | (np.int64(high) << 32)))


@njit(cache=True, inline="always")
def cut_low_word(x: float) -> float:
    """Return a double whose low word is zero.

    >>> cut_low_word(1.0 + 2.0**-40), cut_low_word(1.0 + 2.0**-20)
    (1.0, 1.0000009536743164)
    """
    return float(from_bits(bits_of(x) & ~LOW))


@njit(cache=True, inline="always")
def scale_exponent(x: float, by: Word) -> float:
    """Return a double times a power of two; neither the number nor the result may be subnormal.

    >>> scale_exponent(1.5, 3)
    12.0
    """
    return float(with_high_word(x, high_word(x) + (np.int64(by) << 20)))
