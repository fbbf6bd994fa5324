"""Factor windows: compute windows from sub-aggregates of others, and of windows that nobody asked for where it pays.

The window coverage graph of the paper says who can be computed from whom, and at what cost. A window is covered by
another when its instances are unions of that one's instances, and partitioned by it when those instances do not
overlap. Costs are the paper's: sub-aggregates read in one period R, the LCM of all ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from optimizer.algebra.techniques import CARDS
from optimizer.cost.tree_cost import RAW
from optimizer.strategies.contract.problem import Problem, Watch
from optimizer.strategies.contract.strategy import Draft, draft_cost, search_in_bundles
from optimizer.strategies.contract.units import CostModel, Pricing, Units
from optimizer.strategies.tri_weave import tri_weave
from optimizer.strategies.weave_share import weave_share
from optimizer.windows.edge_space import EdgeSpace
from optimizer.windows.edges import divisors, progressions
from optimizer.windows.window import Window

Relation = Callable[[Window, Window], bool]
MOST_RANGES = 64  # of hopping factors, ranges tried per slide
Graph = dict[Window, Window | None]  # every window's parent; None when it reads the raw events
FEW = 300  # so many windows are planned one by one; of more, the classes of equal edges
FEW_FACTORED = 40  # among so many windows, factors that only some of them have in common are looked for
MOST_RELATED = 400  # units of which any may feed any other; of more, the cheapest only share trees
IDEMPOTENT = {"min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "first", "last", "argmin", "argmax"}


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


def best_factor(target: Window | None, downstream: Sequence[Window], relation: Relation, ticks: int) -> Window | None:
    """Algorithms 2, 4 and 5: of the windows between a target and those it feeds, the one that saves most, if any."""
    costs = {}
    for factor in factor_candidates(target, downstream, tumbling=relation is partitioned_by):
        if all(relation(window, factor) for window in downstream) and (target is None or relation(factor, target)):
            costs[factor] = graph_cost({factor: target, **dict.fromkeys(downstream, factor)}, ticks)
    best = min(costs, key=lambda factor: (costs[factor], -factor.range), default=None)
    now = graph_cost(dict.fromkeys(downstream, target), ticks)
    return best if best is not None and costs[best] < now else None


def with_factors(windows: Sequence[Window], relation: Relation, watch: Watch) -> Graph:
    """Algorithm 3, corrected: a factor is kept only if the total falls with it."""
    ticks = period(windows)
    graph = cheapest_graph(windows, relation)
    for number, target in enumerate([None, *windows]):
        downstream = [window for window, parent in graph.items() if parent == target]
        factor = best_factor(target, downstream, relation, ticks) if downstream and not watch.stopped else None
        if factor is not None and factor not in graph:
            extended = add_factor(graph, factor, relation)
            graph = extended if graph_cost(extended, ticks) < graph_cost(graph, ticks) else graph
        watch.report(number / len(windows))
    return graph


def with_common_factors(graph: Graph, relation: Relation, ticks: int, watch: Watch) -> Graph:
    """Add the factors that some of the windows have in common, the one that saves most first, while the cost falls.

    The paper's algorithm looks for a factor of all the windows that read a target, and leaves the others to future work
    (its footnote 3). Windows of 40, 60, 45 and 75 seconds have 5 in common, and three of them 15.

    >>> windows = [Window(seconds, seconds) for seconds in (40, 60, 45, 75)]
    >>> paper = with_factors(windows, partitioned_by, Watch())
    >>> ours = with_common_factors(paper, partitioned_by, period(windows), Watch())
    >>> sorted(factor.range for factor in ours.keys() - set(windows))
    [5, 15]
    """
    cost = graph_cost(graph, ticks)
    candidates = common_factors(list(graph))
    while candidates and not watch.stopped:
        priced = [
            (graph_cost(extended := add_factor(graph, factor, relation), ticks), extended) for factor in candidates
        ]
        lowest, extended = min(priced, key=lambda pair: pair[0])
        if lowest >= cost:
            break
        cost, graph = lowest, extended
        candidates = [factor for factor in candidates if factor not in graph]
    return graph


def factor_windows(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """Return the better of both graphs, without and with factors, as trees; a parent that does not pay is left out.

    Windows that no other and no factor helps share trees, instead of reading the raw events one by one.
    """
    return cheapest_factors(problem, model, watch, weaves_all=True)


def cheapest_factors(problem: Problem, model: CostModel, watch: Watch, weaves_all: bool = False) -> Draft:
    """Draft by factor windows; where they help none of the windows, these are woven only if that is asked for."""
    units = Units.windows(problem) if len(problem.windows) <= FEW else Units.classes(problem)
    firsts = np.searchsorted(units.unit_of, np.arange(len(units)))
    windows = list(problem.windows.take(firsts))
    relation = relation_for(problem, model)
    related = [windows[unit] for unit in _dearest(units, MOST_RELATED)]
    graphs = [cheapest_graph(related, relation)]
    if problem.options.factor_windows:
        graphs.append(with_factors(related, relation, watch))
        if len(related) <= FEW_FACTORED:
            graphs.append(with_common_factors(graphs[-1], relation, period(related), watch))
    alone = dict.fromkeys(windows)
    priced = [_draft(units, model, windows, {**alone, **graph}) for graph in graphs]
    pricing = Pricing(units, model)
    woven = [_weave_rest(draft, units, model, watch, weaves_all) for _, draft in priced]
    priced += [(draft_cost(draft, pricing), draft) for draft in woven]
    return min(priced, key=lambda pair: pair[0])[1]


def _dearest(units: Units, most: int) -> list[int]:
    """Return the units that may feed each other: all, or of very many those with the most edges and windows."""
    if len(units) <= most:
        return list(range(len(units)))
    sizes = np.bincount(units.unit_of, minlength=len(units))
    weights = units.problem.class_rates[units.class_of] * sizes
    return sorted(np.argsort(-weights, kind="stable")[:most].tolist())


def _weave_rest(draft: Draft, units: Units, model: CostModel, watch: Watch, weaves_all: bool) -> Draft:
    """Return the draft with the trees that read raw events and feed nobody woven into a few that share a root."""
    trees, free = draft.answering, draft.free
    feeding = set(draft.feeds)
    rest = np.array([draft.feeds[tree] == RAW and tree not in feeding for tree in range(trees)])
    inside = rest[draft.labels]
    count = int(np.count_nonzero(rest))
    if count < 2 or (count == trees and not weaves_all):
        return draft
    # where the units are classes, they stay whole, as those of a bundled problem do
    part = replace(units.problem.keep(inside), bundled=draft.by_class)
    pricing = Pricing(Units.classes(part), model)
    by_window = Pricing(Units.windows(part), model)
    choices = [search_in_bundles(search, part, model, watch) for search in (weave_share, tri_weave)]
    shared = min(choices, key=lambda choice: draft_cost(choice, pricing if choice.by_class else by_window))
    others = trees - count
    number = np.cumsum(~rest) - 1  # of the trees that stay as they are
    labels = number[draft.labels]
    labels[inside] = others + shared.labels
    factors = others + shared.answering  # where the free trees begin: this draft's, then the shared ones
    place = {tree: int(number[tree]) for tree in np.flatnonzero(~rest).tolist()}
    place |= {trees + factor: factors + factor for factor in range(len(free))} | {RAW: RAW}
    below = {tree: others + tree for tree in range(shared.answering)} | {RAW: RAW}
    below |= {shared.answering + tree: factors + len(free) + tree for tree in range(len(shared.free))}
    own = [place[draft.feeds[tree]] for tree in range(len(draft.feeds)) if tree >= trees or not rest[tree]]
    fed = [below[feed] for feed in shared.feeds]
    feeds = own[:others] + fed[: shared.answering] + own[others:] + fed[shared.answering :]
    return Draft(labels, tuple(feeds), free + shared.free, by_class=draft.by_class and shared.by_class)


def relation_for(problem: Problem, model: CostModel) -> Relation:
    """Overlapping sub-aggregates do for measures that do not count an event twice; the rest need disjoint ones."""
    components = [measure.component for measure in problem.measures]
    if components == [""]:
        selective = all(CARDS[name].needs == "selective" for name in model.techniques[0])
        return covered_by if selective else partitioned_by
    return covered_by if IDEMPOTENT.issuperset(components) else partitioned_by


def _draft(units: Units, model: CostModel, windows: list[Window], graph: Graph) -> tuple[float, Draft]:
    """Return the graph as trees, and what they cost; factors come last, and go again when they do not pay."""
    pricing = Pricing(units, model)
    slicing = units.problem.options.slicing
    rates = {w: EdgeSpace([progressions(w, slicing)]).rate_float(1) for w in graph}
    measures_of = {w: pricing.measures(1 << unit) for unit, w in enumerate(windows)}
    factors = [window for window in graph if window not in measures_of]
    feeds = _drop_dear_parents(graph, rates, model)
    for factor in factors:
        without = {w: feeds[factor] if parent == factor else parent for w, parent in feeds.items() if w != factor}
        if _feed_cost(without, rates, measures_of, model) <= _feed_cost(feeds, rates, measures_of, model):
            feeds = _drop_dear_parents(without, rates, model)
    nodes = [*windows, *(factor for factor in factors if factor in feeds)]
    number = {window: place for place, window in enumerate(nodes)}
    order = tuple(RAW if (parent := feeds[w]) is None else number[parent] for w in nodes)
    finals = sum(pricing.finals(1 << unit) for unit in range(len(windows)))
    free = [progressions(factor, slicing) for factor in nodes[len(windows) :]]
    draft = Draft.of_forest(units, [1 << unit for unit in range(len(windows))], order, free)
    return finals + _feed_cost(feeds, rates, measures_of, model), draft


def _drop_dear_parents(graph: Graph, rates: dict[Window, float], model: CostModel) -> Graph:
    """Return the graph without parents whose partials cost more to read than the events."""

    def pays(window: Window, parent: Window) -> bool:
        as_level = model.currency.level_feed(np.array(rates[parent]), np.array(1.0))
        return bool(as_level < model.root_feed(np.array(rates[window]), np.array(1.0)))

    return {window: parent if parent and pays(window, parent) else None for window, parent in graph.items()}


def _feed_cost(feeds: Graph, rates: dict[Window, float], measures_of: dict[Window, int], model: CostModel) -> float:
    """Return what all trees pay to be fed; a factor is fed for every measure that it passes on."""
    most = max(measures_of.values())
    place = {window: number for number, window in enumerate(feeds)}
    sources = [RAW if parent is None else place[parent] for parent in feeds.values()]
    counts = [measures_of.get(window, most) for window in feeds]
    return model.currency.feeds_of_forest(model.rate, [rates[window] for window in feeds], counts, sources)
