"""Windows that read the results of others: the overlapping windows of the factor-windows paper, as views.

A window that another covers is the union of that one's instances, which may overlap where no event counts twice: min,
max and their like. Such a statement folds the windows of another statement instead of slices, where that is so much
less to read that it makes up for keeping those windows. The paper reads all instances that lie in the window; here it
is as few of them as cover it: a window of 5 minutes is five of a minute, however often these begin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from optimizer.catalog.model.catalog import window_call
from optimizer.catalog.model.query import Query
from optimizer.catalog.sql.expressions import quote
from optimizer.plan.definition import Measure, Plan
from optimizer.plan.measures import demands_of, measures_of
from optimizer.rewrite.partials import merge_partials, microseconds
from optimizer.rewrite.views import Names, count_passing, select_sql, slice_measures
from optimizer.strategies.factor_windows import IDEMPOTENT, covered_by
from optimizer.windows.window import Window

KEPT = 60  # rows fewer to read for every window that is kept: less saves nothing, by benchmarks/rewriting.py --covers


@dataclass(frozen=True)
class Covers:
    """The statements that read the windows of other statements, and the measures of every such window."""

    covering: Mapping[str, str] = field(default_factory=dict)  # by statement: whose windows it reads
    measures: Mapping[str, frozenset[Measure]] = field(default_factory=dict)  # by statement whose windows are read


Members = Mapping[str, list[Query]]  # the queries of every statement


def choose_covers(plan: Plan, members: Members, sources: Mapping[str, str]) -> Covers:
    """Choose whose windows each statement folds, by the fewest reads, where that pays for keeping them."""
    order = sorted(sources, key=lambda name: (window_of(members, name), name))
    covering: dict[str, str] = {}
    available = {name: set(slice_measures(plan.tree(tree))) for name, tree in sources.items()}
    for number, name in enumerate(order):
        # with a FILTER, a window has a row also where no event passes it: its slices are there by what is demanded
        needed = needs_of(members[name]) | {measure for query in members[name] for measure in demands_of(query)}
        if not _may_overlap(members[name]):
            continue
        choices = [
            by
            for by in order[:number]
            if members[by][0].group_by == members[name][0].group_by
            and covered_by(window_of(members, name), window_of(members, by))
            and needed <= available[by]
        ]
        best = min(choices, key=lambda by: (_reads(members, name, by), by), default=None)
        if best is not None:
            covering[name] = best
            available[name] &= available[best]
    for by in reversed(order):
        readers = [name for name, other in covering.items() if other == by]
        gain = sum((_gain(plan, members, sources, name, by) for name in readers), Fraction(0))
        if gain <= Fraction(KEPT, window_of(members, by).slide):
            for name in readers:
                del covering[name]
    return Covers(covering, _measures_kept(members, covering, order))


def window_of(members: Members, name: str) -> Window:
    """Return the window of a statement, which all its queries share."""
    return members[name][0].window


def needs_of(queries: Iterable[Query]) -> set[Measure]:
    """Return the measures that a statement folds, and the counts of the events that pass its predicate."""
    needed = {measure for query in queries for measure in measures_of(query)}
    return needed | {count_passing(query.where) for query in queries if query.where}


def _may_overlap(queries: Iterable[Query]) -> bool:
    return IDEMPOTENT.issuperset(measure.component for query in queries for measure in measures_of(query))


def _reads(members: Members, name: str, by: str) -> Fraction:
    """Return how many rows per tick a statement reads of another one's windows."""
    window, of = window_of(members, name), window_of(members, by)
    return Fraction(len(_distances(window, of)), of.slide)


def _gain(plan: Plan, members: Members, sources: Mapping[str, str], name: str, by: str) -> Fraction:
    """Return how many rows fewer a statement reads per tick: windows of another one instead of slices."""
    window = window_of(members, name)
    slices = plan.tree(sources[name]).edge_rate * window.range / window.slide
    return slices - _reads(members, name, by)


def _measures_kept(
    members: Members, covering: Mapping[str, str], order: Iterable[str]
) -> dict[str, frozenset[Measure]]:
    """Return what the windows of every statement that is read hold: its own measures, and those of all its readers."""
    measures: dict[str, frozenset[Measure]] = {by: frozenset(needs_of(members[by])) for by in covering.values()}
    for name in reversed(list(order)):  # readers before those that they read
        if name in covering:
            measures[covering[name]] |= measures.get(name, frozenset(needs_of(members[name])))
    return measures


@dataclass(frozen=True)
class Fold:
    """What a statement folds: the slices of a view that begin in a window, or windows of a view at some distances."""

    view: str
    window: Window
    distances: tuple[int, ...] = ()  # between the start of a window and those of the windows that make it up


def fold_windows(view: str, window: Window, by: Window) -> Fold:
    """Fold the windows of another statement: so few that together they are the window, though they may overlap.

    >>> fold_windows("v", Window(70, 10), Window(60, 10)).distances
    (0, 10)
    >>> fold_windows("v", Window(300, 10), Window(60, 10)).distances
    (0, 60, 120, 180, 240)
    """
    return Fold(view, window, _distances(window, by))


def _distances(window: Window, by: Window) -> tuple[int, ...]:
    rest = window.range - by.range
    return (*range(0, rest, by.range - by.range % by.slide), rest)


def windows_sql(fold: Fold, keys: Iterable[str], measures: Iterable[Measure], names: Names) -> str:
    """Return the statement that selects the windows of a statement, by keys and start, with their measures."""
    keys = list(map(quote, keys))
    merged = [f"{merge_partials(m, names.measures[m])} AS {quote(names.measures[m])}" for m in sorted(measures)]
    start = f"{start_sql(fold, names)} AS {quote(names.slice)}"
    return select_sql(
        [*keys, start, *merged],
        fold.view,
        where_sql(fold, names),
        group_sql(fold, keys, names),
        lateral=lateral_sql(fold, names),
    )


def lateral_sql(fold: Fold, names: Names) -> str:
    """Return the starts of all windows that a window of the view is a part of, as rows."""
    if not fold.distances:
        return ""
    clock = quote(names.slice)
    starts = [f"{clock} - {_interval(distance)}" if distance else clock for distance in fold.distances]
    return f"LATERAL VIEW explode(array({', '.join(starts)})) AS {quote(names.window)}"


def where_sql(fold: Fold, names: Names) -> str:
    """Return the condition that such a start is one of the statement's own."""
    if not fold.distances:
        return ""
    window = fold.window
    return f"pmod({microseconds(quote(names.window))} - {window.offset}, {window.slide}) = 0"


def group_sql(fold: Fold, keys: Iterable[str], names: Names) -> list[str]:
    """Return what is grouped by: the keys, and the window or its start."""
    return [*keys, quote(names.window) if fold.distances else window_call(fold.window, names.slice)]


def start_sql(fold: Fold, names: Names) -> str:
    """Return the start of the statement's window."""
    return quote(names.window) if fold.distances else f"{window_call(fold.window, names.slice)}.start"


def end_sql(fold: Fold, names: Names) -> str:
    """Return the end of the statement's window."""
    window_end = f"{window_call(fold.window, names.slice)}.end"
    return f"{quote(names.window)} + {_interval(fold.window.range)}" if fold.distances else window_end


def _interval(ticks: int) -> str:
    return f"make_dt_interval(0, 0, 0, {ticks / 1_000_000:.6f})"
