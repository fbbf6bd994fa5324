"""Algebraic aggregates from the folds of their components, as Spark gives them: nulls and NaN included."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from jobs.kernels.arrays import Bools, Column


class Part(NamedTuple):
    """One folded component: its columns (three for moments) and which windows are not null (None: all)."""

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


FINISH: dict[str, Callable[[Sequence[Part]], Finished]] = {
    "avg": _avg,
    "geometric_mean": _geometric_mean,
    "range": _range,
    "var_pop": _var_pop,
    "var_samp": _var_samp,
    "stddev_pop": _stddev_pop,
    "stddev_samp": _stddev_samp,
}
