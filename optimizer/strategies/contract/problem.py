"""What a strategy solves: the distinct windows of a group of queries, and the classes of equal edges they fall into.

The caller's options say how edges are counted and cut, and a watch follows the search and stops it. Several integer
columns are packed into one sortable key, so that a million rows are made distinct by one sort.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from optimizer.errors import HeddleError, did_you_mean
from optimizer.plan.definition import Measure
from optimizer.windows.counters import COUNTERS
from optimizer.windows.edge_space import EdgeSpace
from optimizer.windows.edges import Edges, Progression, collapse
from optimizer.windows.window import PAIRS, SLICINGS, BoolArray, FloatArray, IntArray, WindowSet, distinct_sorted

AUTO = "auto"
DENSE = 1 << 23  # values up to here are numbered by a table, not by sorting


@dataclass(frozen=True)
class SearchOptions:
    """The counter of edges (`auto` takes the quickest that fits), the slicing, and whether to invent factor windows.

    >>> SearchOptions(slicing="pains")
    Traceback (most recent call last):
    optimizer.errors.HeddleError: there is no slicing 'pains'; did you mean panes?
    """

    edges: str = AUTO
    slicing: str = PAIRS
    factor_windows: bool = True

    def __post_init__(self) -> None:
        _require("counter of edges", self.edges, [AUTO, *COUNTERS])
        _require("slicing", self.slicing, list(SLICINGS))


def _require(kind: str, name: str, names: list[str]) -> None:
    if name not in names:
        hint = did_you_mean(name, names, f"use one of {', '.join(names)}")
        raise HeddleError(f"there is no {kind} {name!r}; {hint}")


DEFAULT_OPTIONS = SearchOptions()


def _ignore(share: float) -> None:
    pass


class Watch:
    """Follows a search: the search reports to it how much is done, and stops when it says so."""

    def __init__(self, progress: Callable[[float], None] = _ignore) -> None:
        self._progress = progress
        self.stopped = False

    def report(self, share: float) -> None:
        """Say which share of the work is done, 0 to 1."""
        self._progress(share)

    def stop(self) -> None:
        """Ask the search to end with what it has."""
        self.stopped = True


@dataclass(frozen=True, eq=False)
class Problem:
    """Distinct windows, sorted by class; classes are numbered by their smallest query, so that ties fall one way."""

    windows: WindowSet
    class_of: IntArray  # ascending: the windows of a class are neighbours
    classes: tuple[Edges, ...]
    measures: tuple[Measure, ...] = (Measure(),)
    asking: tuple[BoolArray | None, ...] = (None,)  # per measure, the windows that ask for it; None for all
    options: SearchOptions = DEFAULT_OPTIONS
    bundled: bool = False  # classes stand for several: their windows do not have equal edges

    @cached_property
    def space(self) -> EdgeSpace:
        """Edge rates of sets of classes."""
        counter = "" if self.options.edges == AUTO else self.options.edges
        return EdgeSpace(self.classes, counter=counter)

    @cached_property
    def class_rates(self) -> FloatArray:
        """The edge rate of every class alone."""
        return self.space.class_rates()

    @property
    def everything(self) -> int:
        """The mask of all classes."""
        return (1 << len(self.classes)) - 1

    def bundle(self, bundle_of: IntArray) -> tuple[Problem, IntArray]:
        """Return the same windows with classes put into bundles, each one class with all their edges; and their order.

        `bundle_of` numbers the bundle of every class.
        """
        bundles = bundle_of[self.class_of]
        order = np.argsort(bundles, kind="stable")
        parts: list[set[Progression]] = [set() for _ in range(int(bundle_of.max()) + 1)]
        for number, edges in zip(bundle_of.tolist(), self.classes, strict=True):
            parts[number].update(edges)
        asking = tuple(None if column is None else column[order] for column in self.asking)
        classes = tuple(tuple(sorted(part)) for part in parts)
        bundled = Problem(
            self.windows.take(order), bundles[order], classes, self.measures, asking, self.options, bundled=True
        )
        return bundled, order

    def part(self, classes: IntArray) -> Problem:
        """Return the same problem for some of the classes, in their order."""
        return self.keep(np.isin(self.class_of, classes))

    def keep(self, inside: BoolArray) -> Problem:
        """Return the same problem for some of the windows, in their order."""
        asking = tuple(None if column is None else column[inside] for column in self.asking)
        old_numbers, numbers = np.unique(self.class_of[inside], return_inverse=True)
        classes = tuple(self.classes[number] for number in old_numbers.tolist())
        return Problem(self.windows.take(inside), numbers, classes, self.measures, asking, self.options)


@dataclass(frozen=True, eq=False)
class Rows:
    """A group's queries as columns, and the problem they pose."""

    windows: WindowSet
    class_of: IntArray
    problem: Problem
    packed: Packed
    needed_by: tuple[BoolArray, ...] = ()  # per measure, the queries that need it; () when there is one measure for all

    def needs(self) -> list[BoolArray | slice]:
        """Per measure, an index of the queries that need it."""
        return list(self.needed_by) or [slice(None)]

    @cached_property
    def window_of(self) -> IntArray:
        """The position of every query's window among the distinct ones."""
        return self.packed.positions()


def make_problem(windows: WindowSet, per_query: bool = False, options: SearchOptions = DEFAULT_OPTIONS) -> Rows:
    """Return the problem that in-memory windows pose: ties are broken by the smallest windows."""
    windows = _align_offsets(windows)
    classes, class_of = collapse(windows.range, windows.slide, windows.offset, options.slicing)
    smallest = _smallest_windows(windows, class_of, len(classes))
    rows = _make_rows(windows, classes, class_of, np.lexsort(smallest[::-1]), per_query)
    return replace(rows, problem=replace(rows.problem, options=options))


def make_measures_problem(
    windows: WindowSet,
    needed_by: Sequence[BoolArray],
    measures: Sequence[Measure],
    per_query: bool = False,
    options: SearchOptions = DEFAULT_OPTIONS,
) -> Rows:
    """Return the problem that catalog queries pose, given in the order of their ids, which break ties."""
    windows = _align_offsets(windows)
    classes, class_of = collapse(windows.range, windows.slide, windows.offset, options.slicing)
    _, first = np.unique(class_of, return_index=True)
    rows = _make_rows(windows, classes, class_of, np.argsort(first), per_query)
    asking = tuple(_asking_windows(rows, column) for column in needed_by)
    problem = replace(rows.problem, measures=tuple(measures), asking=asking, options=options)
    return replace(rows, problem=problem, needed_by=tuple(needed_by))


def _align_offsets(windows: WindowSet) -> WindowSet:
    """Make offsets equal that differ by whole slides: they name the same windows."""
    return WindowSet(windows.range, windows.slide, windows.offset % windows.slide, windows.rows)


def _make_rows(
    windows: WindowSet, classes: Sequence[Edges], class_of: IntArray, order: IntArray, per_query: bool
) -> Rows:
    """Renumber the classes in this order, and find the distinct windows."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    ranked = rank[class_of]
    row = np.arange(len(ranked)) if per_query else np.zeros(len(ranked), dtype=np.int64)
    packed = pack(ranked, windows.range, windows.slide, windows.offset, row)
    class_column, ranges, slides, offsets, _ = packed.distinct()
    distinct = WindowSet(ranges, slides, offsets, windows.rows)
    return Rows(windows, ranked, Problem(distinct, class_column, tuple(classes[c] for c in order)), packed)


def _smallest_windows(windows: WindowSet, class_of: IntArray, count: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the smallest (range, slide, offset) of every class."""
    low = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(low, class_of, windows.range)
    level = np.flatnonzero(windows.range == low[class_of])
    ties = np.lexsort((windows.offset[level], windows.slide[level], class_of[level]))
    level = level[ties]
    first = level[np.unique(class_of[level], return_index=True)[1]]
    return windows.range[first], windows.slide[first], windows.offset[first]


def _asking_windows(rows: Rows, needed_by: BoolArray) -> BoolArray | None:
    asking = np.zeros(len(rows.problem.windows), dtype=np.bool_)
    asking[rows.window_of[needed_by]] = True
    return None if asking.all() else asking


@dataclass(frozen=True, eq=False)
class Packed:
    """A key for every row, in the order of the columns, and how to take a key apart again."""

    keys: IntArray
    distinct_keys: IntArray  # the distinct keys, ascending
    bases: tuple[int, ...]
    values: tuple[IntArray | None, ...]  # per column, the value of every code; None when the code is the value

    def distinct(self) -> tuple[IntArray, ...]:
        """Return the columns of the distinct rows, in the order of the columns."""
        rest, columns = self.distinct_keys, []
        for base, values in zip(reversed(self.bases), reversed(self.values), strict=True):
            rest, code = np.divmod(rest, base)
            columns.append(code if values is None else values[code])
        return tuple(reversed(columns))

    def positions(self) -> IntArray:
        """Return where among the distinct rows every row is."""
        return np.searchsorted(self.distinct_keys, self.keys)


def pack(*columns: IntArray) -> Packed:
    """Pack the columns; where their values are too large for one key, their ranks are packed instead."""
    coded = [_code_column(column, dense=False) for column in columns]
    if _product([base for _, base, _ in coded]) >= 1 << 62:
        coded = [_code_column(column, dense=True) for column in columns]
    keys = np.zeros(len(columns[0]), dtype=np.int64)
    for codes, base, _ in coded:
        if base > 1:
            keys = keys * base + codes
    _, bases, values = zip(*coded, strict=True)
    return Packed(keys, distinct_sorted(keys), bases, values)


def _code_column(column: IntArray, dense: bool) -> tuple[IntArray, int, IntArray | None]:
    """Codes in the order of the values, how many there may be, and what they stand for."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    if low >= 0 and high < DENSE and high > 0:
        occurs = np.zeros(high + 1, dtype=np.bool_)
        occurs[column] = True
        values = np.flatnonzero(occurs)
        return (np.cumsum(occurs) - 1)[column], len(values), values
    if low >= 0 and not dense:
        return column, high + 1, None
    values, codes = np.unique(column, return_inverse=True)
    return codes, len(values), values


def _product(bases: list[int]) -> int:
    total = 1
    for base in bases:
        total *= base
    return total
