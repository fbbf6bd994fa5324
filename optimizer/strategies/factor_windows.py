"""Factor windows: compute windows from sub-aggregates of others, and of windows that nobody asked for where it pays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optimizer.algebra.techniques import CARDS
from optimizer.cost.tree_cost import RAW
from optimizer.strategies.contract.draft import Draft
from optimizer.strategies.contract.pricing import CostModel, Pricing
from optimizer.strategies.contract.problem import Problem
from optimizer.strategies.contract.units import Units
from optimizer.strategies.contract.watch import Watch
from optimizer.strategies.search.coverage import (
    Graph,
    Relation,
    add_factor,
    cheapest_graph,
    covered_by,
    factor_candidates,
    graph_cost,
    partitioned_by,
    period,
)
from optimizer.windows.edge_space import EdgeSpace
from optimizer.windows.edges import progressions
from optimizer.windows.window import Window

FEW = 300  # so many windows are planned one by one; of more, the classes of equal edges
IDEMPOTENT = {"min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "first", "last", "argmin", "argmax"}


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


def factor_windows(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """The better of both graphs, without and with factors, as trees; a parent that does not pay is left out."""
    units = Units.windows(problem) if len(problem.windows) <= FEW else Units.classes(problem)
    firsts = np.searchsorted(units.unit_of, np.arange(len(units)))
    windows = list(problem.windows.take(firsts))
    relation = relation_for(problem, model)
    graphs = [cheapest_graph(windows, relation), with_factors(windows, relation, watch)]
    return min((_draft(units, model, windows, graph) for graph in graphs), key=lambda pair: pair[0])[1]


def relation_for(problem: Problem, model: CostModel) -> Relation:
    """Overlapping sub-aggregates do for measures that do not count an event twice; the rest need disjoint ones."""
    components = [measure.component for measure in problem.measures]
    if components == [""]:
        selective = all(CARDS[name].needs == "selective" for name in model.techniques[0])
        return covered_by if selective else partitioned_by
    return covered_by if IDEMPOTENT.issuperset(components) else partitioned_by


def _draft(units: Units, model: CostModel, windows: list[Window], graph: Graph) -> tuple[float, Draft]:
    """The graph as trees, and what they cost; factors come last, and go again when they do not pay."""
    pricing = Pricing(units, model)
    rates = {w: EdgeSpace([progressions(w)]).rate_float(1) for w in graph}
    measures_of = {w: pricing.measures(1 << unit) for unit, w in enumerate(windows)}
    factors = [window for window in graph if window not in measures_of]
    feeds = _paying(graph, rates, model)
    for factor in factors:
        without = {w: feeds[factor] if parent == factor else parent for w, parent in feeds.items() if w != factor}
        if _feed_cost(without, rates, measures_of, model) <= _feed_cost(feeds, rates, measures_of, model):
            feeds = _paying(without, rates, model)
    nodes = [*windows, *(factor for factor in factors if factor in feeds)]
    number = {window: place for place, window in enumerate(nodes)}
    order = tuple(RAW if (parent := feeds[w]) is None else number[parent] for w in nodes)
    finals = sum(pricing.finals(1 << unit) for unit in range(len(windows)))
    free = [progressions(factor) for factor in nodes[len(windows) :]]
    draft = Draft.of_forest(units, [1 << unit for unit in range(len(windows))], order, free)
    return finals + _feed_cost(feeds, rates, measures_of, model), draft


def _paying(graph: Graph, rates: dict[Window, float], model: CostModel) -> Graph:
    """The graph without parents whose partials cost more to read than the events."""

    def pays(window: Window, parent: Window) -> bool:
        as_level = model.currency.level_feed(np.array(rates[parent]), np.array(1.0))
        return bool(as_level < model.root_feed(np.array(rates[window]), np.array(1.0)))

    return {window: parent if parent and pays(window, parent) else None for window, parent in graph.items()}


def _feed_cost(feeds: Graph, rates: dict[Window, float], measures_of: dict[Window, int], model: CostModel) -> float:
    """What all trees pay to be fed; a factor is fed for every measure that it passes on."""
    most = max(measures_of.values())
    place = {window: number for number, window in enumerate(feeds)}
    sources = [RAW if parent is None else place[parent] for parent in feeds.values()]
    counts = [measures_of.get(window, most) for window in feeds]
    return model.currency.feeds_of_forest(model.rate, [rates[window] for window in feeds], counts, sources)
