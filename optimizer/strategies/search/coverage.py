"""The window coverage graph of the factor-windows paper: who can be computed from whom, and at what cost.

A window is covered by another when its instances are unions of that one's instances, and partitioned by it when those
instances do not overlap. Costs are the paper's: sub-aggregates read in one period R, the LCM of all ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm

from optimizer.windows.edges import divisors
from optimizer.windows.window import Window

Relation = Callable[[Window, Window], bool]
MOST_RANGES = 64  # of hopping factors, ranges tried per slide

Graph = dict[Window, Window | None]  # every window's parent; None when it reads the raw events


def covered_by(window: Window, by: Window) -> bool:
    """Return whether `window` can be put together from instances of `by`, which may overlap (min, max and the like)."""
    return (
        window != by
        and window.range >= by.range
        and window.slide % by.slide == 0
        and (window.range - by.range) % by.slide == 0
        and (window.offset - by.offset) % by.slide == 0
    )


def partitioned_by(window: Window, by: Window) -> bool:
    """Return whether instances of `by` that do not overlap make up those of `window` (any aggregate)."""
    return by.range == by.slide and covered_by(window, by)


def period(windows: Sequence[Window]) -> int:
    """R: after how many ticks all the ranges fit."""
    return lcm(*(window.range for window in windows))


def instances(window: Window, ticks: int) -> Fraction:
    """Return how many instances of a window a period holds: 1 + (R/r - 1) r/s."""
    return 1 + Fraction(ticks - window.range, window.slide)


def reads(window: Window, parent: Window | None) -> Fraction:
    """Return what an instance reads: all its events, or the instances of its parent it is made of."""
    if parent is None:
        return Fraction(window.range)  # at one event a tick
    return 1 + Fraction(window.range - parent.range, parent.slide)


def graph_cost(graph: Mapping[Window, Window | None], ticks: int) -> Fraction:
    """Return what all windows of a graph read in a period."""
    return sum((instances(w, ticks) * reads(w, parent) for w, parent in graph.items()), Fraction(0))


def cheapest_graph(windows: Sequence[Window], relation: Relation) -> Graph:
    """Algorithm 1: every window takes the parent of which it reads least."""
    return {window: cheapest_parent(window, windows, relation) for window in windows}


def cheapest_parent(window: Window, windows: Iterable[Window], relation: Relation) -> Window | None:
    """Return the window of which an instance reads least, the shortest of equals; None when the raw events are less."""
    parents = [by for by in windows if relation(window, by)]
    best = min(parents, key=lambda by: (reads(window, by), by), default=None)
    return best if best is not None and reads(window, best) < reads(window, None) else None


def add_factor(graph: Graph, factor: Window, relation: Relation) -> Graph:
    """Return the graph with one more window, which feeds those that read less of it than of their parents."""
    parents = {
        window: factor if relation(window, factor) and reads(window, factor) < reads(window, parent) else parent
        for window, parent in graph.items()
    }
    return parents | {factor: cheapest_parent(factor, graph, relation)}


def common_factors(windows: Sequence[Window]) -> list[Window]:
    """Return the tumbling windows of which two or more windows are made up, apart from those that are there.

    >>> [factor.range for factor in common_factors([Window(40, 40), Window(60, 60), Window(45, 45)])]
    [5, 15, 20]
    """
    lengths = [(window, gcd(window.range, window.slide)) for window in windows]
    factors = set()
    for number, (window, length) in enumerate(lengths):
        for other, other_length in lengths[:number]:
            step = gcd(length, other_length, window.offset - other.offset)
            if step > 1 and window.rows == other.rows:
                factors.add(Window(step, step, window.offset % step, window.rows))
    return sorted(factors.difference(windows))


def factor_candidates(target: Window | None, downstream: Sequence[Window], tumbling: bool) -> list[Window]:
    """Yield windows that may stand between a target and those it feeds, never with the target's own range.

    Slides divide what the slides downstream have in common, and for tumbling factors what the ranges have too: a
    hopping window is partitioned only when both its range and its slide are multiples.
    """
    slide = gcd(*(window.slide for window in downstream))
    step_of = gcd(slide, *(window.range for window in downstream)) if tumbling else slide
    longest = min(window.range for window in downstream)
    candidates = []
    for step in divisors(step_of):
        ranges = [step] if tumbling else [step * k for k in range(1, min(longest // step, MOST_RANGES) + 1)]
        candidates += [Window(ticks, step, downstream[0].offset % step, downstream[0].rows) for ticks in ranges]
    own = target.range if target else 1
    return [window for window in candidates if window.range != own and window not in downstream]
