"""Algebraic aggregates from the folds of their components, as Spark gives them: nulls and NaN included.

Averages of decimals are quotients of whole numbers of 128 bits, rounded half away from zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numba import njit

from jobs.kernels.arrays import Bools, Column, Ints, read_only

LIMBS: Final = 5  # of 32 bits: a number, and a factor below 2**32
BITS: Final = np.uint64(32)
MASK: Final = np.uint64((1 << 32) - 1)
LARGEST: Final = (1 << 32) - 1  # divisor


class Part(NamedTuple):
    """One folded component: its columns (several for moments) and which windows are not null (None: all)."""

    columns: tuple[Column, ...]
    valid: Bools | None


class Finished(NamedTuple):
    """An aggregate's answers, and which of them are not null (None: all)."""

    values: Column
    valid: Bools | None


def finish(aggregate: str, parts: Sequence[Part]) -> Finished:
    """Return the answers of an aggregate from its folded components, in the order in which its needs name them.

    >>> sums, counts = Part((np.array([6.0, 0.0]),), None), Part((np.array([4, 0]),), None)
    >>> finish("avg", [sums, counts]).valid.tolist(), float(finish("avg", [sums, counts]).values[0])
    ([True, False], 1.5)
    """
    if aggregate not in FINISH:
        return Finished(parts[0].columns[0], parts[0].valid)
    with np.errstate(all="ignore"):
        return FINISH[aggregate](parts)


def _avg(parts: Sequence[Part]) -> Finished:
    total, count = parts[0].columns[0], parts[1].columns[0]
    return Finished(total / count, count > 0)


def _geometric_mean(parts: Sequence[Part]) -> Finished:
    logarithm, valid = _avg(parts)
    return Finished(np.exp(logarithm), valid)


def _range(parts: Sequence[Part]) -> Finished:
    high, low = parts
    return Finished(high.columns[0] - low.columns[0], high.valid)


def _var_pop(parts: Sequence[Part]) -> Finished:
    count, _, m2 = parts[0].columns
    return Finished(m2 / count, count > 0)


def _var_samp(parts: Sequence[Part]) -> Finished:
    """Make the variance of a single value null, not NaN: Spark's default since 3.1."""
    count, _, m2 = parts[0].columns
    return Finished(m2 / (count - 1), count > 1)


def _stddev_pop(parts: Sequence[Part]) -> Finished:
    variance, valid = _var_pop(parts)
    return Finished(np.sqrt(variance), valid)


def _stddev_samp(parts: Sequence[Part]) -> Finished:
    variance, valid = _var_samp(parts)
    return Finished(np.sqrt(variance), valid)


def _skewness(parts: Sequence[Part]) -> Finished:
    count, _, m2, m3, _ = parts[0].columns
    return Finished(np.sqrt(count) * m3 / np.sqrt(m2 * m2 * m2), (count > 0) & (m2 != 0))


def _kurtosis(parts: Sequence[Part]) -> Finished:
    count, _, m2, _, m4 = parts[0].columns
    return Finished(count * m4 / (m2 * m2) - 3.0, (count > 0) & (m2 != 0))


def _covar_pop(parts: Sequence[Part]) -> Finished:
    count, _, _, together, _, _ = parts[0].columns
    return Finished(together / count, count > 0)


def _covar_samp(parts: Sequence[Part]) -> Finished:
    count, _, _, together, _, _ = parts[0].columns
    return Finished(together / (count - 1), count > 1)


def _corr(parts: Sequence[Part]) -> Finished:
    count, _, _, together, first, second = parts[0].columns
    return Finished(together / np.sqrt(first * second), (count > 1) & (first != 0) & (second != 0))


# regr_* takes the dependent variable y first, and x second
def _regr_count(parts: Sequence[Part]) -> Finished:
    return Finished(parts[0].columns[0].astype(np.int64), None)


def _regr_column(number: int) -> Callable[[Sequence[Part]], Finished]:
    return lambda parts: Finished(parts[0].columns[number], parts[0].columns[0] > 0)


def _regr_slope(parts: Sequence[Part]) -> Finished:
    _, _, _, together, _, xx = parts[0].columns
    return Finished(together / xx, (parts[0].columns[0] > 0) & (xx != 0))


def _regr_intercept(parts: Sequence[Part]) -> Finished:
    slope, valid = _regr_slope(parts)
    _, y, x, _, _, _ = parts[0].columns
    return Finished(y - slope * x, valid)


def _regr_r2(parts: Sequence[Part]) -> Finished:
    """Return r squared: 1 where y never changes, and null where x never changes."""
    count, _, _, together, yy, xx = parts[0].columns
    return Finished(np.where(yy == 0, 1.0, together * together / (xx * yy)), (count > 0) & (xx != 0))


FINISH: dict[str, Callable[[Sequence[Part]], Finished]] = {
    "avg": _avg,
    "geometric_mean": _geometric_mean,
    "range": _range,
    "var_pop": _var_pop,
    "var_samp": _var_samp,
    "stddev_pop": _stddev_pop,
    "stddev_samp": _stddev_samp,
    "try_avg": _avg,
    "skewness": _skewness,
    "kurtosis": _kurtosis,
    "covar_pop": _covar_pop,
    "covar_samp": _covar_samp,
    "corr": _corr,
    "regr_count": _regr_count,
    "regr_avgy": _regr_column(1),
    "regr_avgx": _regr_column(2),
    "regr_sxy": _regr_column(3),
    "regr_syy": _regr_column(4),
    "regr_sxx": _regr_column(5),
    "regr_slope": _regr_slope,
    "regr_intercept": _regr_intercept,
    "regr_r2": _regr_r2,
}


def divide_rounded(low: Ints, high: Ints, factor: int, divisors: Ints) -> tuple[Ints, Ints, Bools]:
    """Return (high * 2**64 + low) * factor / divisor, again in two words, and which quotients do not fit into them.

    Factor and divisors are positive and below 2**32.

    >>> low, high, is_lost = divide_rounded(np.array([1, -1, 5]), np.array([0, -1, 0]), 10, np.array([4, 4, 3]))
    >>> low.tolist(), high.tolist(), is_lost.tolist()  # 2.5, -2.5 and 16.67
    ([3, -3, 17], [0, -1, 0], [False, False, False])
    """
    quotients = np.empty((2, len(low)), np.int64)
    is_lost = np.zeros(len(low), np.bool_)
    _divide(read_only(low), read_only(high), factor, read_only(divisors), quotients, is_lost)
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
