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
    """Return the bits of a double."""
    return np.float64(x).view(np.int64)


@njit(cache=True, inline="always")
def from_bits(bits: Word) -> float:
    """Return the double of some bits."""
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
    """Return the last 32 bits."""
    return bits_of(x) & LOW


@njit(cache=True, inline="always")
def with_high_word(x: float, high: Word) -> float:
    """Return a double with another high word."""
    return float(from_bits((bits_of(x) & LOW) | (np.int64(high) << 32)))


@njit(cache=True, inline="always")
def cut_low_word(x: float) -> float:
    """Return a double whose low word is zero."""
    return float(from_bits(bits_of(x) & ~LOW))


@njit(cache=True, inline="always")
def scale_exponent(x: float, by: Word) -> float:
    """Return a double times a power of two, where neither of both is subnormal."""
    return float(with_high_word(x, high_word(x) + (np.int64(by) << 20)))
