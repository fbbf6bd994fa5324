"""Sums that can be taken back: the accumulators of the invertible techniques.

A float64 sum is kept exactly, as an integer in limbs of 32 bits that spans all exponents (Kulisch's long accumulator).
Subtracting what was added restores every bit, so a spike of 1e300 leaves nothing behind. The alternatives do not do:
compensation (Neumaier, double-double) keeps 106 bits and loses 1e-5 beside 1e300; rebuilding after a spike costs n in
one slide, where the papers promise 2. NaN and infinities have no inverse and are counted beside the limbs.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from jobs.kernels.algebra.int_literals import numeral
from jobs.kernels.algebra.operators import LIMB_BITS, LIMB_MASK, VALID, clear_row, two_sum_error
from jobs.kernels.arrays import Ints, Words
from jobs.kernels.machine.words import FLOAT

Floats = NDArray[np.float64]

# the columns of a lane
FIRST: Final = 0  # the first partial inside
VALIDS: Final = 1  # how many partials inside are not null
NANS: Final = 2
INFINITIES: Final = 3
MINUS_INFINITIES: Final = 4
TOP: Final = 5  # one above the highest limb ever touched; it keeps the sign
LIMBS: Final = 6

ADD: Final = numeral(1)
TAKE_BACK: Final = numeral(-1)

MANTISSA: Final = 53
LOWEST: Final = 1126  # 2**-1126 is the unit of limb 0: the last bit of the smallest subnormal's 53-bit mantissa
COLUMNS: Final = LIMBS + (1024 - MANTISSA + LOWEST) // LIMB_BITS + 4


@njit(cache=True)
def _add_float(acc: Ints, x: float, sign: int) -> None:
    if x != x:
        acc[NANS] += sign
    elif x - x != 0.0:
        acc[INFINITIES if x > 0 else MINUS_INFINITIES] += sign
    elif x != 0.0:
        mantissa, exponent = math.frexp(x)
        digits = np.int64(abs(mantissa) * 2.0**MANTISSA)
        sign = sign if x > 0 else -sign
        shift = exponent - MANTISSA + LOWEST
        limb, bits = LIMBS + shift // LIMB_BITS, shift % LIMB_BITS
        low, high = (digits & LIMB_MASK) << bits, (digits >> LIMB_BITS) << bits
        acc[limb] += sign * (low & LIMB_MASK)
        acc[limb + 1] += sign * ((low >> LIMB_BITS) + (high & LIMB_MASK))
        acc[limb + 2] += sign * (high >> LIMB_BITS)
        acc[TOP] = max(acc[TOP], limb + 3)


@njit(cache=True)
def accumulate(op: int, acc: Ints, rows: Words, i: int, sign: int) -> None:
    """ADD or TAKE_BACK the partial rows[i]."""
    if rows[i, VALID] == 0:
        return
    acc[VALIDS] += sign
    if op & FLOAT:
        floats = rows.view(np.float64)
        _add_float(acc, floats[i, 0], sign)
        _add_float(acc, floats[i, 1], sign)
    else:
        low = acc[LIMBS + 1] + sign * rows[i, 1]
        acc[LIMBS] += sign * rows[i, 0] + (low >> LIMB_BITS)
        acc[LIMBS + 1] = low & LIMB_MASK


@njit(cache=True)
def _carry(acc: Ints) -> None:
    """Bring all limbs below the top into 0 .. 2**32 - 1; the value stays the same."""
    for limb in range(LIMBS, acc[TOP]):
        acc[limb + 1] += acc[limb] >> LIMB_BITS
        acc[limb] &= LIMB_MASK


@njit(cache=True)
def _read_float(acc: Ints, out: Floats, k: int) -> None:
    """Horner's rule from the top in double-double, until it holds more bits than the answer needs."""
    _carry(acc)
    high, low, limb = 0.0, 0.0, acc[TOP] + 1
    while limb > LIMBS and abs(high) < 2.0**96:
        limb -= 1
        shifted, digit = high * 2.0**LIMB_BITS, float(acc[limb])
        total = shifted + digit
        low = low * 2.0**LIMB_BITS + two_sum_error(shifted, digit, total)
        high = total + low
        low -= high - total
    exponent = (limb - LIMBS) * LIMB_BITS - LOWEST
    out[k, 0] = np.ldexp(high, exponent)
    out[k, 1] = np.ldexp(low, exponent)


@njit(cache=True)
def _read(acc: Ints, out: Floats, k: int) -> None:
    out[k, VALID] = 1.0
    if acc[NANS] > 0 or (acc[INFINITIES] > 0 and acc[MINUS_INFINITIES] > 0):
        out[k, 0] = np.nan
    elif acc[INFINITIES] > 0 or acc[MINUS_INFINITIES] > 0:
        out[k, 0] = np.inf if acc[INFINITIES] > 0 else -np.inf
    elif acc[TOP] > 0:
        _read_float(acc, out, k)


@njit(cache=True)
def read(op: int, acc: Ints, out: Words, k: int) -> None:
    """out[k] = the sum of the partials inside."""
    clear_row(out, k)
    if acc[VALIDS] == 0:
        return
    if op & FLOAT:
        _read(acc, out.view(np.float64), k)
    else:
        out[k, 0] = acc[LIMBS]
        out[k, 1] = acc[LIMBS + 1]
        out[k, VALID] = 1
