"""Sums that can be taken back: the accumulators of the invertible techniques.

A float64 sum is kept exactly, as an integer in limbs of 32 bits that spans all exponents (Kulisch's long accumulator).
Subtracting what was added restores every bit, so a spike of 1e300 leaves nothing behind. The alternatives do not do:
compensation (Neumaier, double-double) keeps 106 bits and loses 1e-5 beside 1e300; rebuilding after a spike costs n in
one slide, where the papers promise 2. NaN and infinities have no inverse and are counted beside the limbs.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from jobs.kernels.algebra.operators import LIMB_BITS, LIMB_MASK, VALID, clear_row, two_sum_error
from jobs.kernels.arrays import Floats, Ints, Words, compile_in_place, int64_literal
from jobs.kernels.fdlibm.words import bits_of, from_bits
from jobs.kernels.machine.memory import FLOAT, OP, Memory, allocate, count

# the columns of a slot, which is one accumulator
FIRST: Final = 0  # the first partial inside
VALIDS: Final = 1  # how many partials inside are not null
NANS: Final = 2
INFINITIES: Final = 3
MINUS_INFINITIES: Final = 4
TOP: Final = 5  # one above the highest limb ever touched; it keeps the sign
BOTTOM: Final = 6  # the lowest limb ever touched
LIMBS: Final = 7

ADD: Final = int64_literal(1)
TAKE_BACK: Final = int64_literal(-1)

FRACTION: Final = 52  # bits of a double after the point
SPECIAL: Final = 0x7FF  # the exponent of infinities and NaN
LOWEST: Final = 1074  # 2**-1074 is the unit of limb 0: the smallest subnormal number
BIAS: Final = 1023
COLUMNS: Final = LIMBS + SPECIAL // LIMB_BITS + 4


def make_accumulators(op: int, ranges: Ints, slot_of_query: Ints, capacity: int) -> Memory:
    """Return an empty memory with an accumulator for each range.

    >>> make_accumulators(1, np.array([3, 5]), np.array([0, 1]), 8).slots.shape == (2, COLUMNS)
    True
    """
    return allocate(op, ranges, slot_of_query, capacity, 0, COLUMNS)


@compile_in_place
def evict(memory: Memory, slot: int, first: int) -> None:
    """Take back the partials before `first` that the slot's accumulator still holds. `query` shows an example."""
    accumulator, mask = memory.slots[slot], len(memory.rows) - 1
    for s in range(accumulator[FIRST], first):
        accumulate(memory.scalars[OP], accumulator, memory.rows, s & mask, TAKE_BACK)
        count(memory, 1)
    accumulator[FIRST] = max(accumulator[FIRST], first)


@compile_in_place
def query(memory: Memory, slot: int, first: int, out: Words, k: int) -> None:
    """Take back what has left the window; what remains is the answer.

    >>> from jobs.kernels.machine.memory import store
    >>> memory, rows = make_accumulators(1, np.array([3]), np.array([0]), 4), np.array([[0, 5, 0, 1], [0, 7, 0, 1]])
    >>> for i in range(2):
    ...     accumulate(1, memory.slots[0], rows, i, ADD)
    ...     store(memory, rows, i)
    >>> query(memory, 0, 1, rows, 0)
    >>> rows[0].tolist()
    [0, 7, 0, 1]
    """
    evict(memory, slot, first)
    read(memory.scalars[OP], memory.slots[slot], out, k)


@compile_in_place
def _add_float(accumulator: Ints, x: float, sign: int) -> None:
    bits = bits_of(x)
    exponent, digits = (bits >> FRACTION) & SPECIAL, bits & ((1 << FRACTION) - 1)
    if exponent == SPECIAL:
        accumulator[NANS if digits else INFINITIES if x > 0 else MINUS_INFINITIES] += sign
    elif exponent or digits:
        digits |= np.int64(exponent > 0) << FRACTION  # a subnormal number has no hidden bit
        sign = sign if x > 0 else -sign
        shift = max(exponent, 1) - 1
        limb, bits = LIMBS + shift // LIMB_BITS, shift % LIMB_BITS
        low, high = (digits & LIMB_MASK) << bits, (digits >> LIMB_BITS) << bits
        accumulator[limb] += sign * (low & LIMB_MASK)
        accumulator[limb + 1] += sign * ((low >> LIMB_BITS) + (high & LIMB_MASK))
        accumulator[limb + 2] += sign * (high >> LIMB_BITS)
        accumulator[BOTTOM] = min(accumulator[BOTTOM], limb) if accumulator[TOP] else limb
        accumulator[TOP] = max(accumulator[TOP], limb + 3)


@compile_in_place
def accumulate(op: int, accumulator: Ints, rows: Words, i: int, sign: int) -> None:
    """Add the partial rows[i] to the accumulator (ADD), or subtract it again (TAKE_BACK).

    >>> accumulator, rows = np.zeros(COLUMNS, np.int64), np.array([[1e300, 0, 0, 1], [0.1, 0, 0, 1]]).view(np.int64)
    >>> for i, sign in ((0, ADD), (1, ADD), (0, TAKE_BACK)):
    ...     accumulate(FLOAT, accumulator, rows, i, sign)
    >>> read(FLOAT, accumulator, rows, 0)
    >>> float(rows.view(np.float64)[0, 0])  # nothing of the spike is left
    0.1
    """
    if rows[i, VALID] == 0:
        return
    accumulator[VALIDS] += sign
    if op & FLOAT:
        floats = rows.view(np.float64)
        _add_float(accumulator, floats[i, 0], sign)
        _add_float(accumulator, floats[i, 1], sign)
    else:
        low = accumulator[LIMBS + 1] + sign * rows[i, 1]
        accumulator[LIMBS] += sign * rows[i, 0] + (low >> LIMB_BITS)
        accumulator[LIMBS + 1] = low & LIMB_MASK


@compile_in_place
def _carry(accumulator: Ints) -> None:
    """Bring all limbs that were touched into 0 .. 2**32 - 1; the value stays the same."""
    for limb in range(accumulator[BOTTOM], accumulator[TOP]):
        accumulator[limb + 1] += accumulator[limb] >> LIMB_BITS
        accumulator[limb] &= LIMB_MASK


@compile_in_place
def _read_float(accumulator: Ints, out: Floats, k: int) -> None:
    """Read a sum as a float by Horner's rule in double-double, until it holds more bits than the answer needs."""
    _carry(accumulator)
    high, low, limb = 0.0, 0.0, accumulator[TOP] + 1
    while limb > accumulator[BOTTOM] and abs(high) < 2.0**96:
        limb -= 1
        shifted, digit = high * 2.0**LIMB_BITS, float(accumulator[limb])
        total = shifted + digit
        low = low * 2.0**LIMB_BITS + two_sum_error(shifted, digit, total)
        high = total + low
        low -= high - total
    exponent = (limb - LIMBS) * LIMB_BITS - LOWEST
    if abs(exponent) < BIAS:
        unit = from_bits((exponent + BIAS) << FRACTION)
        out[k, 0], out[k, 1] = high * unit, low * unit
    else:  # the power is no double
        out[k, 0], out[k, 1] = np.ldexp(high, exponent), np.ldexp(low, exponent)


@compile_in_place
def _read(accumulator: Ints, out: Floats, k: int) -> None:
    out[k, VALID] = 1.0
    if accumulator[NANS] > 0 or (accumulator[INFINITIES] > 0 and accumulator[MINUS_INFINITIES] > 0):
        out[k, 0] = np.nan
    elif accumulator[INFINITIES] > 0 or accumulator[MINUS_INFINITIES] > 0:
        out[k, 0] = np.inf if accumulator[INFINITIES] > 0 else -np.inf
    elif accumulator[TOP] > 0:
        _read_float(accumulator, out, k)


@compile_in_place
def read(op: int, accumulator: Ints, out: Words, k: int) -> None:
    """Set row k of out to the sum of the partials in the accumulator; null when it holds none.

    >>> out = np.ones((1, 4), np.int64)
    >>> read(FLOAT, np.zeros(COLUMNS, np.int64), out, 0)
    >>> out.tolist()
    [[0, 0, 0, 0]]
    """
    clear_row(out, k)
    if accumulator[VALIDS] == 0:
        return
    if op & FLOAT:
        _read(accumulator, out.view(np.float64), k)
    else:
        out[k, 0] = accumulator[LIMBS]
        out[k, 1] = accumulator[LIMBS + 1]
        out[k, VALID] = 1
