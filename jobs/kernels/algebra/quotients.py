"""Quotients of whole numbers of 128 bits, rounded half away from zero, as averages of decimals are."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.arrays import Bools, Ints

LIMBS: Final = 5  # of 32 bits: a number, and a factor below 2**32
BITS: Final = np.uint64(32)
MASK: Final = np.uint64((1 << 32) - 1)
LARGEST: Final = (1 << 32) - 1  # divisor


def divide_rounded(low: Ints, high: Ints, factor: int, divisors: Ints) -> tuple[Ints, Ints, Bools]:
    """Return (high * 2**64 + low) * factor / divisor, again in two words, and which quotients do not fit into them.

    Factor and divisors are positive and below 2**32.

    >>> low, high, is_lost = divide_rounded(np.array([1, -1, 5]), np.array([0, -1, 0]), 10, np.array([4, 4, 3]))
    >>> low.tolist(), high.tolist(), is_lost.tolist()  # 2.5, -2.5 and 16.67
    ([3, -3, 17], [0, -1, 0], [False, False, False])
    """
    quotients = np.empty((2, len(low)), np.int64)
    is_lost = np.zeros(len(low), np.bool_)
    _divide(low, high, factor, divisors, quotients, is_lost)
    return quotients[0], quotients[1], is_lost


@njit(cache=True, nogil=True)
def _divide(low: Ints, high: Ints, factor: int, divisors: Ints, quotients: Ints, is_lost: Bools) -> None:
    limbs = np.zeros(LIMBS, np.uint64)
    for i in range(low.size):
        below, above = np.uint64(low[i]), np.uint64(high[i])
        if high[i] < 0:
            below, above = _negate(below, above)
        _multiply(limbs, below, above, np.uint64(factor))
        _divide_limbs(limbs, np.uint64(divisors[i]))
        is_lost[i] = limbs[4] != 0 or limbs[3] >> np.uint64(31) != 0
        below, above = limbs[0] | limbs[1] << BITS, limbs[2] | limbs[3] << BITS
        if high[i] < 0:
            below, above = _negate(below, above)
        quotients[0, i], quotients[1, i] = np.int64(below), np.int64(above)


@njit(cache=True)
def _negate(low: Any, high: Any) -> tuple[Any, Any]:
    below = ~low + np.uint64(1)
    return below, ~high + np.uint64(below == 0)


@njit(cache=True)
def _multiply(limbs: Any, low: Any, high: Any, factor: Any) -> None:
    limbs[0], limbs[1], limbs[2], limbs[3], limbs[4] = low & MASK, low >> BITS, high & MASK, high >> BITS, 0
    carry = np.uint64(0)
    for k in range(LIMBS):
        part = limbs[k] * factor + carry
        limbs[k], carry = part & MASK, part >> BITS


@njit(cache=True)
def _divide_limbs(limbs: Any, divisor: Any) -> None:
    rest = np.uint64(0)
    for k in range(LIMBS - 1, -1, -1):
        part = rest << BITS | limbs[k]
        limbs[k] = part // divisor
        rest = part - limbs[k] * divisor
    carry = np.uint64(rest >= divisor - rest)
    for k in range(LIMBS):
        part = limbs[k] + carry
        limbs[k], carry = part & MASK, part >> BITS
