"""Algebraic aggregates from the folds of their components, as Spark gives them: nulls and NaN included."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from jobs.kernels.arrays import Bools, Column


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
    """Explain all of a y that never changes; nothing can be said where x never does."""
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
