"""Sliding answers of one in-memory column: one event a tick, only full windows, an array per window."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jobs.kernels.algebra.finish import FINISH, Finished, Part, finish
from jobs.kernels.algebra.operators import SUM_INT, VALUE_COLUMNS, lift, lower
from jobs.kernels.columns.fold import Folded, fold, prepare, surely_fits
from jobs.kernels.columns.levels import fold_windows
from jobs.kernels.in_memory.column import ORDERED, ComponentInput, InputColumn, make_input, mask_nulls, read_column
from jobs.kernels.techniques.stream import run
from optimizer.algebra.aggregates import AGGREGATES, Aggregate
from optimizer.algebra.techniques import BLOCK, CARDS, DEFAULT_TECHNIQUE, require_allowed
from optimizer.errors import HeddleError, did_you_mean
from optimizer.windows.window import Window

Plain = tuple[int, int] | tuple[int, int, int]  # range, slide and, if it has one, offset
Windows = Window | Plain | Sequence[Window | Plain]
BY_NAME = {alias: aggregate for aggregate in AGGREGATES.values() for alias in (aggregate.name, *aggregate.aliases)}


BY_TICK = ("first", "last", "any_value")


def parse_kernel(name: str | None) -> str:
    """Return the kernel's name; the default where none is named.

    >>> parse_kernel(None)
    'two_stacks_block'
    """
    if name is None:
        return DEFAULT_TECHNIQUE
    if name not in CARDS:
        right = did_you_mean(name, CARDS, f"kernels: {', '.join(CARDS)}")
        raise HeddleError(f"unknown kernel {name!r}; {right}")
    return name


def parse_aggregate(name: str) -> Aggregate:
    """Return the aggregate of that name, if one column is enough for it.

    >>> parse_aggregate("mean").name
    'avg'
    """
    aggregate = BY_NAME.get(name)
    if aggregate is None:
        right = did_you_mean(name, BY_NAME, f"aggregates: {', '.join(AGGREGATES)}")
        raise HeddleError(f"unknown aggregate {name!r}; {right}")
    if aggregate.kind == "holistic":
        raise HeddleError(f"aggregate {aggregate.name} is holistic: it has no partials, so no kernel can slide it")
    if aggregate.arguments > 1:
        right = "use min, max, first or last"
        raise HeddleError(f"aggregate {aggregate.name} takes two columns, and sliding has one; {right}")
    return aggregate


def parse_windows(windows: Windows) -> list[Window]:
    """Return the windows, be it one or several, each as a Window.

    >>> parse_windows((10, 5)), len(parse_windows([(10, 5), Window(60, 10)]))
    ([Window(range=10, slide=5, offset=0, rows=False)], 2)
    """
    single = isinstance(windows, Window) or (
        isinstance(windows, tuple) and len(windows) in (2, 3) and not isinstance(windows[0], Window | Sequence)
    )
    try:
        return [_parse_window(window) for window in ([windows] if single else windows)]  # type: ignore[union-attr]
    except TypeError:
        raise _not_a_window(windows) from None


def _not_a_window(argument: Any) -> HeddleError:
    return HeddleError(f"{argument!r} is not a window; give Window(range, slide), or (range, slide) as integers")


def _from_numbers(argument: Any) -> Window:
    try:
        range_, slide, *offset = (index(number) for number in argument)
        (shift,) = offset or [0]
        return Window(range_, slide, shift)
    except (TypeError, ValueError):
        raise _not_a_window(argument) from None


def _parse_window(argument: Any) -> Window:
    window = argument if isinstance(argument, Window) else _from_numbers(argument)
    if window.slide < 1 or window.range < window.slide:
        raise HeddleError(f"range {window.range}, slide {window.slide}: a slide is at least 1 and at most the range")
    return window


def sliding(values: ArrayLike, windows: Windows, aggregate: str, kernel: str | None = None) -> list[NDArray[Any]]:
    """Return the aggregate over every full window of the values, an array per window.

    Window k holds the ticks from k * slide + offset on; an array is empty where no window is full. Without a kernel,
    the fastest safe one is taken. What is masked, None or NaT is null; null answers are NaN, NaT or None, and masked
    among integers.

    >>> sliding([3, 1, 2, 5, 4], (3, 1), "max")
    [array([3, 5, 5])]
    >>> sliding([3.0, None, 2.0, 5.0], [Window(2, 2), Window(4, 1)], "sum", kernel="daba")
    [array([3., 7.]), array([10.])]
    """
    function = parse_aggregate(aggregate)
    technique = parse_kernel(kernel)
    for need in function.needs:
        require_allowed(technique, need.component)
    all_windows = parse_windows(windows)
    column = read_column(values)
    if column.is_only_ordered and function.name not in ORDERED:
        raise HeddleError(f"aggregate {function.name} needs numbers, and the values are {column.kind}; use min or max")
    full = [window for window in all_windows if window.offset % window.slide + window.range <= len(column.numbers)]
    if len(full) == len(all_windows):
        return _answers(column, all_windows, function, technique)
    answers = iter(_answers(column, full, function, technique))
    nothing = _no_answers(column, function)
    return [next(answers) if window in full else nothing.copy() for window in all_windows]


def _no_answers(column: InputColumn, aggregate: Aggregate) -> NDArray[Any]:
    """Return no answers, in the type that answers have: that of the answer to a single value."""
    words = None if column.words is None else np.array([""], object)
    single = InputColumn(np.zeros(1, column.numbers.dtype), None, column.kind, words)
    return _answers(single, [Window(1, 1)], aggregate, BLOCK)[0][:0]


def _answers(column: InputColumn, windows: list[Window], aggregate: Aggregate, technique: str) -> list[NDArray[Any]]:
    if not windows:
        return []
    if aggregate.name in BY_TICK and technique == BLOCK:
        return [column.values_at(_end_ticks(len(column.numbers), window, aggregate.name)) for window in windows]
    inputs = [make_input(need, column.numbers, column.valid) for need in aggregate.needs]
    if technique == BLOCK and _folds_are_answers(aggregate, inputs[0], windows):
        folds = fold_windows(inputs[0].op, inputs[0].values, windows)
        return [_to_type(column, aggregate, answers) for answers in folds]
    folded = [_fold(component, windows, technique) for component in inputs]
    finished = [_check_range(aggregate, finish(aggregate.name, parts)) for parts in zip(*folded, strict=True)]
    if aggregate.name in BY_TICK:
        return [column.values_at(answers.values) for answers in finished]
    return [_to_type(column, aggregate, mask_nulls(answers.values, answers.valid)) for answers in finished]


def _folds_are_answers(aggregate: Aggregate, component: ComponentInput, windows: list[Window]) -> bool:
    """Say whether the folds are the answers: of thousands of windows, each would be looked at for nothing."""
    if aggregate.name in FINISH or component.valid is not None:
        return False
    return component.op != SUM_INT or surely_fits(component.values, max(window.range for window in windows))


def _to_type(column: InputColumn, aggregate: Aggregate, answers: NDArray[Any]) -> NDArray[Any]:
    """Return the answers in their type: extremes have the column's, bool_and and bool_or are true or false."""
    if aggregate.name in ("min", "max"):
        return column.restore_type(answers)
    return answers.astype(np.bool_) if aggregate.name.startswith("bool_") else answers


def _end_ticks(rows: int, window: Window, name: str) -> slice:
    """Return the ticks that are the first, or the last, of their window."""
    before = window.range - 1
    start = window.offset % window.slide
    return slice(start, rows - before, window.slide) if name != "last" else slice(start + before, rows, window.slide)


def _fold(component: ComponentInput, windows: list[Window], technique: str) -> list[Part]:
    if technique != BLOCK:
        return _fold_by_technique(component, windows, technique)
    if component.op in VALUE_COLUMNS:
        return [_fold_moments(component, window) for window in windows]
    longest = max(window.range for window in windows)
    foldable = prepare(component.op, (component.values,), component.valid, longest)
    folds = [fold_windows(op, column, windows) for op, column in foldable.parts]
    return [_part(foldable.join(of_window)) for of_window in zip(*folds, strict=True)]


def _part(folded: Folded) -> Part:
    if folded.has_overflow:
        raise HeddleError("sum: a window's sum does not fit into int64; give the values as float64")
    return Part(folded.columns, folded.valid)


def _fold_moments(component: ComponentInput, window: Window) -> Part:
    values = component.values
    lo = np.arange(window.offset % window.slide, len(values) - window.range + 1, window.slide)
    rows = lift(component.op, values)
    columns = [rows[:, number] for number in VALUE_COLUMNS[component.op]]
    return _part(fold(component.op, columns, lo, lo + window.range, component.valid))


def _fold_by_technique(component: ComponentInput, windows: Sequence[Window], technique: str) -> list[Part]:
    """Fold every full window by a technique as its paper writes it, a part per window."""
    ticks = np.arange(len(component.values))
    offsets = np.array([0, len(ticks)])
    distinct = sorted(set(windows))
    rows = lift(component.op, component.values, component.valid)
    answers = run(technique, distinct, component.component, offsets, ticks, rows, len(ticks), -1)
    full = np.flatnonzero(answers.start >= 0)
    by_query = full[np.argsort(answers.query[full], kind="stable")]
    bounds = np.searchsorted(answers.query[by_query], np.arange(1, len(distinct)))
    parts = {}
    for window, places in zip(distinct, np.split(by_query, bounds), strict=True):
        values, valid, overflow = lower(component.op, answers.rows[places])
        numbers = VALUE_COLUMNS.get(component.op)
        columns = tuple(answers.rows[places][:, number] for number in numbers) if numbers else (values,)
        parts[window] = _part(Folded(columns, valid, overflow))
    return [parts[window] for window in windows]


def _check_range(aggregate: Aggregate, answers: Finished) -> Finished:
    """Return the answers, unless max - min went beyond int64 and so below zero."""
    if aggregate.name != "range" or answers.values.dtype != np.int64:
        return answers
    if (answers.values < 0 if answers.valid is None else (answers.values < 0) & answers.valid).any():
        raise HeddleError("range: a window's max - min does not fit into int64; give the values as float64")
    return answers
