"""Sliding answers of one in-memory column: one event a tick, only full windows, an array per window."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jobs.kernels.algebra.finish import FINISH, Finished, Part, finish
from jobs.kernels.algebra.operators import COUNT, MOMENTS, SUM_INT
from jobs.kernels.arrays import Ints
from jobs.kernels.columns.fold import from_limbs, limbs, surely_fits
from jobs.kernels.columns.many_windows import weave
from jobs.kernels.columns.moments import fold_moments
from jobs.kernels.columns.operators import identity
from jobs.kernels.in_memory.arguments import BLOCK, Windows, known_aggregate, known_kernel, known_windows
from jobs.kernels.in_memory.by_technique import fold_literally
from jobs.kernels.in_memory.column import ORDERED, Given, given_column, with_nulls
from jobs.kernels.in_memory.components import Input, make_input
from optimizer.algebra.aggregates import Aggregate
from optimizer.algebra.techniques import require_allowed
from optimizer.errors import HeddleError
from optimizer.windows.window import Window


def sliding(values: ArrayLike, windows: Windows, aggregate: str, kernel: str | None = None) -> list[NDArray[Any]]:
    """The aggregate over every full window of the values, an array per window: window k holds the ticks from
    k * slide + offset on, and an array is empty where no window is full. Without a kernel, the fastest safe one is
    taken. What is masked, None or NaT is null; null answers are NaN, NaT or None, and masked among integers."""
    known = known_aggregate(aggregate)
    technique = known_kernel(kernel)
    for need in known.needs:
        require_allowed(technique, need.component)
    wanted = known_windows(windows)
    given = given_column(values)
    if given.ordered and known.name not in ORDERED:
        raise HeddleError(f"aggregate {known.name} needs numbers, and the values are {given.kind}; use min or max")
    full = [window for window in wanted if window.offset % window.slide + window.range <= len(given.numbers)]
    if len(full) == len(wanted):
        return _answers(given, wanted, known, technique)
    answers = iter(_answers(given, full, known, technique))
    nothing = _nothing(given, known)
    return [next(answers) if window in full else nothing.copy() for window in wanted]


def _nothing(given: Given, known: Aggregate) -> NDArray[Any]:
    """No answers, in the type that answers have: that of the answer to a single value."""
    words = None if given.words is None else np.array([""], object)
    single = Given(np.zeros(1, given.numbers.dtype), None, given.kind, words)
    return _answers(single, [Window(1, 1)], known, BLOCK)[0][:0]


def _answers(given: Given, windows: list[Window], known: Aggregate, technique: str) -> list[NDArray[Any]]:
    if not windows:
        return []
    if known.name in ("first", "last") and technique == BLOCK:
        return [given.taken(_ends(len(given.numbers), window, known.name)) for window in windows]
    inputs = [make_input(need, given.numbers, given.valid) for need in known.needs]
    if technique == BLOCK and _answers_itself(known, inputs[0], windows):
        return [_typed(given, known, answer) for answer in weave(inputs[0].op, inputs[0].values, windows)]
    folded = [_fold(each, windows, technique) for each in inputs]
    finished = [_fitting(known, finish(known.name, parts)) for parts in zip(*folded, strict=True)]
    if known.name in ("first", "last"):
        return [given.taken(answer.values) for answer in finished]
    return [_typed(given, known, with_nulls(answer.values, answer.valid)) for answer in finished]


def _answers_itself(known: Aggregate, given: Input, windows: list[Window]) -> bool:
    """Whether the folds are the answers: of thousands of windows, each would be looked at for nothing."""
    if known.name in FINISH or given.valid is not None:
        return False
    return given.op != SUM_INT or surely_fits(given.values, max(window.range for window in windows))


def _typed(given: Given, known: Aggregate, answers: NDArray[Any]) -> NDArray[Any]:
    """Extremes are values of the column, and have its type; bool_and and bool_or are true or false."""
    if known.name in ("min", "max"):
        return given.restored(answers)
    return answers.astype(np.bool_) if known.name.startswith("bool_") else answers


def _ends(rows: int, window: Window, name: str) -> slice:
    """The ticks that are the first, or the last, of their window."""
    before = window.range - 1
    start = window.offset % window.slide
    return slice(start, rows - before, window.slide) if name == "first" else slice(start + before, rows, window.slide)


def _fold(given: Input, windows: list[Window], kernel: str) -> list[Part]:
    if kernel != BLOCK:
        return fold_literally(given, windows, kernel)
    if given.op == MOMENTS:
        return [_moments(given, window) for window in windows]
    if given.valid is None:
        return _fold_filled(given, windows)
    nothing = given.values.dtype.type(identity(given.op, given.values.dtype))
    filled = given._replace(values=np.where(given.valid, given.values, nothing))
    counts = weave(COUNT, given.valid.astype(np.int64), windows)
    return [Part(part.columns, count > 0) for part, count in zip(_fold_filled(filled, windows), counts, strict=True)]


def _fold_filled(given: Input, windows: list[Window]) -> list[Part]:
    if given.op == SUM_INT and not surely_fits(given.values, max(window.range for window in windows)):
        high, low = (weave(SUM_INT, limb, windows) for limb in limbs(given.values))
        return [_sum_of_limbs(*pair) for pair in zip(high, low, strict=True)]
    return [Part((fold,), None) for fold in weave(given.op, given.values, windows)]


def _sum_of_limbs(high: Ints, low: Ints) -> Part:
    total, overflow = from_limbs(high, low)
    if overflow.any():
        raise HeddleError("sum: a window's sum does not fit into int64; give the values as float64")
    return Part((total,), None)


def _moments(given: Input, window: Window) -> Part:
    lo = np.arange(window.offset % window.slide, len(given.values) - window.range + 1, window.slide)
    spread = np.where(np.isfinite(given.values), 0.0, np.nan)
    columns = fold_moments((np.ones(len(given.values)), given.values, spread), lo, lo + window.range, given.valid)
    return Part(columns, columns[0] > 0)


def _fitting(known: Aggregate, answer: Finished) -> Finished:
    """The answers, unless max - min went beyond int64 and so below zero."""
    if known.name != "range" or answer.values.dtype != np.int64:
        return answer
    if (answer.values < 0 if answer.valid is None else (answer.values < 0) & answer.valid).any():
        raise HeddleError("range: a window's max - min does not fit into int64; give the values as float64")
    return answer
