"""Sliding answers of one in-memory column: one event a tick, only full windows, an array per window."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jobs.kernels.asked import BLOCK, Windows, full_windows, known_aggregate, known_kernel
from jobs.kernels.columns import Column, Ints, identity
from jobs.kernels.finish import FINISH, Finished, Part, finish
from jobs.kernels.inputs import Input, make_input
from jobs.kernels.literal import fold_literally
from jobs.kernels.moments import fold_moments
from jobs.kernels.operators import COUNT, MOMENTS, SUM_INT
from jobs.kernels.two_stacks_block import from_limbs, limbs, surely_fits
from jobs.kernels.weave import weave
from optimizer.catalog.aggregates import Aggregate
from optimizer.errors import HeddleError
from optimizer.techniques import require_allowed
from optimizer.windows.window import Window

ORDERED = ("min", "max")  # what strings, dates and timestamps can be asked for


def sliding(values: ArrayLike, windows: Windows, aggregate: str, kernel: str | None = None) -> list[NDArray[Any]]:
    """The aggregate over every full window of the values, an array per window: window k holds the ticks from
    k * slide + offset on. Without a kernel, the fastest safe one is taken; null answers are NaN, or masked integers."""
    column = np.asarray(values)
    known = known_aggregate(aggregate)
    wanted = full_windows(windows, len(column))
    technique = known_kernel(kernel)
    for need in known.needs:
        require_allowed(technique, need.component)
    if column.dtype.kind in "OUSmM":
        return _ordered(column, wanted, known, kernel)
    numbers = _numbers(column)
    if known.name in ("first", "last") and technique == BLOCK:
        return [_ends(numbers, window, known.name) for window in wanted]
    given = [make_input(need, numbers) for need in known.needs]
    if technique == BLOCK and _answers_itself(known, given[0], wanted):
        return weave(given[0].op, given[0].values, wanted)
    folded = [_fold(each, wanted, technique) for each in given]
    finished = [finish(known.name, parts) for parts in zip(*folded, strict=True)]
    if known.name in ("first", "last"):
        return [numbers[answer.values] for answer in finished]
    kind = np.dtype(np.bool_) if known.name.startswith("bool_") else None
    return [_plain(answer, kind) for answer in finished]


def _answers_itself(known: Aggregate, given: Input, windows: list[Window]) -> bool:
    """Whether the folds are the answers: of thousands of windows, each would be looked at for nothing."""
    if known.name in FINISH or known.name.startswith("bool_") or given.valid is not None:
        return False
    return given.op != SUM_INT or surely_fits(given.values, max(window.range for window in windows))


def _numbers(column: NDArray[Any]) -> Column:
    if column.ndim != 1:
        raise HeddleError(f"the values have {column.ndim} dimensions; give one column")
    if column.dtype.kind == "f":
        return np.ascontiguousarray(column, np.float64)
    if column.dtype.kind in "bi" or (column.dtype.kind == "u" and column.dtype.itemsize < 8):
        return np.ascontiguousarray(column, np.int64)
    raise HeddleError(f"values of type {column.dtype} cannot be aggregated; give integers, floats or strings")


def _ordered(column: NDArray[Any], windows: list[Window], known: Aggregate, kernel: str | None) -> list[NDArray[Any]]:
    """Strings, dates and timestamps: their order is all that counts, so they go as integers in the same order. Spark
    compares the bytes of UTF-8, which is the order of code points and so that of Python."""
    if known.name not in (*ORDERED, "first", "last"):
        raise HeddleError(f"aggregate {known.name} needs numbers, and the values are {column.dtype}; use min or max")
    if column.dtype.kind in "mM":
        answers = sliding(column.astype(np.int64), windows, known.name, kernel)
        return [answer.astype(column.dtype) for answer in answers]
    words = column.astype(object)
    if any(word is None for word in words):
        raise HeddleError("a column of strings may not hold nulls here; drop them first")
    dictionary, codes = np.unique(words, return_inverse=True)
    return [dictionary[answer] for answer in sliding(codes, windows, known.name, kernel)]


def _ends(values: Column, window: Window, name: str) -> Column:
    start = window.offset % window.slide
    count = (len(values) - start - window.range) // window.slide + 1
    first = start if name == "first" else start + window.range - 1
    return values[first :: window.slide][:count].copy()


def _fold(given: Input, windows: list[Window], kernel: str) -> list[Part]:
    if kernel != BLOCK:
        return fold_literally(given, windows, kernel)
    if given.op == MOMENTS:
        return [_moments(given.values, window) for window in windows]
    if given.op == SUM_INT and not surely_fits(given.values, max(window.range for window in windows)):
        high, low = (weave(SUM_INT, limb, windows) for limb in limbs(given.values))
        return [_sum_of_limbs(*pair) for pair in zip(high, low, strict=True)]
    if given.valid is None:
        folds = weave(given.op, given.values, windows)
        return [Part((fold,), None) for fold in folds]
    nothing = given.values.dtype.type(identity(given.op, given.values.dtype))
    folds = weave(given.op, np.where(given.valid, given.values, nothing), windows)
    counts = weave(COUNT, given.valid.astype(np.int64), windows)
    return [Part((fold,), count > 0) for fold, count in zip(folds, counts, strict=True)]


def _sum_of_limbs(high: Ints, low: Ints) -> Part:
    total, overflow = from_limbs(high, low)
    if overflow.any():
        raise HeddleError("sum: a window's sum does not fit into int64; give the values as float64")
    return Part((total,), None)


def _moments(values: Column, window: Window) -> Part:
    start = window.offset % window.slide
    lo = np.arange(start, len(values) - window.range + 1, window.slide)
    spread = np.where(np.isfinite(values), 0.0, np.nan)
    columns = fold_moments((np.ones(len(values)), values, spread), lo, lo + window.range)
    return Part(columns, columns[0] > 0)


def _plain(answer: Finished, kind: np.dtype[Any] | None) -> NDArray[Any]:
    values = answer.values if kind is None else answer.values.astype(kind)
    if answer.valid is None or answer.valid.all():
        return values
    return np.where(answer.valid, values, np.nan)
