"""Sums and averages of decimals from folded words, exact to the last digit, in Spark's types.

A decimal of at most 18 digits is one word. A longer one is two, high * 2**64 + low with a low word that has a sign;
each is added by itself, in limbs that no sum leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from jobs.engine.events.decimal_words import Words, find_too_large, join_words
from jobs.engine.finals.fold import Folded
from jobs.engine.program.program import QueryProgram
from jobs.kernels.algebra.operators import LIMB_BITS, LIMB_MASK
from jobs.kernels.algebra.quotients import LARGEST, divide_rounded
from jobs.kernels.arrays import Bools, Ints
from optimizer.errors import HeddleError

AVERAGES = ("avg", "try_avg")
TRIED = ("try_sum", "try_avg")  # null where the others refuse
HIGHEST = (1 << 63) - (1 << 32)  # of a high word, beyond which a sum has surely more than 38 digits


def answer_decimals(query: QueryProgram, folded: Sequence[Folded]) -> pa.Array:
    """Return the sums or averages of windows: null where no value is, refused where Spark's type does not hold one.

    `folded` are the sums of the low words, then those of the high ones if there are any; an average has counts behind
    them."""
    assert query.summed is not None
    sums, counts = (folded[:-1], folded[-1].numbers[0]) if query.aggregate in AVERAGES else (folded, None)
    words, is_lost = _add_words(sums)
    valid = np.ones(len(words.low), np.bool_) if folded[0].valid is None else folded[0].valid
    overflow = (is_lost | find_too_large(words, query.summed.precision)) & valid
    if counts is not None:
        words, is_large = _divide(query, words, counts, valid)
        overflow |= is_large
    if overflow.any() and query.aggregate not in TRIED:
        raise too_large(query)
    return join_words(query.type, words, valid & ~overflow)


def too_large(query: QueryProgram) -> HeddleError:
    """Return the refusal of an answer that its type does not hold."""
    return HeddleError(
        f"query {query.id}: the {query.aggregate} of a window does not fit into {query.type}, and Spark would refuse "
        "it too; cast to double first"
    )


def _add_words(sums: Sequence[Folded]) -> tuple[Words, Bools]:
    """Return the sums of 128 bits, and which of them have more."""
    low = _words_of(sums[0])
    if len(sums) == 1:
        return low, np.zeros(len(low.low), np.bool_)
    high = _words_of(sums[1])
    is_lost = (high.high != high.low >> 63) | (high.low > HIGHEST) | (high.low < -HIGHEST)
    return Words(low.low, low.high + np.where(is_lost, 0, high.low)), is_lost


def _words_of(sums: Folded) -> Words:
    """Return sums in limbs of 32 bits as words; where there are no limbs, all sums fit into 64 bits."""
    if sums.limbs is None:
        low = sums.numbers[0]
        return Words(low, low >> 63)
    high, low = sums.limbs
    high = high + (low >> LIMB_BITS)
    return Words((high << LIMB_BITS) | (low & LIMB_MASK), high >> LIMB_BITS)


def _divide(query: QueryProgram, sums: Words, counts: Ints, valid: Bools) -> tuple[Words, Bools]:
    """Return the quotients with the digits of an average, and which of them its type does not hold."""
    assert query.summed is not None
    if counts.max(initial=0) > LARGEST:
        raise HeddleError(f"query {query.id}: a window has more than {LARGEST} values, more than are averaged here")
    factor = 10 ** (query.type.scale - query.summed.scale)
    low, high, is_lost = divide_rounded(sums.low, sums.high, factor, np.maximum(counts, 1))
    quotients = Words(low, high)
    return quotients, (is_lost | find_too_large(quotients, query.type.precision)) & valid
