"""From a strategy's draft to the trees of a plan: windows, techniques, measures and costs filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from optimizer.cost.load import Load
from optimizer.cost.omega import cheapest_technique
from optimizer.cost.tree_cost import RAW
from optimizer.plan.cost import tree_cost
from optimizer.plan.definition import EVENTS, Demand, Measure, Traffic, Tree
from optimizer.planning.group import Group
from optimizer.strategies.contract.draft import Draft
from optimizer.strategies.contract.pricing import CostModel
from optimizer.strategies.contract.problem import Problem, Rows
from optimizer.windows.columns import Ids, IntArray, WindowSet
from optimizer.windows.edge_space import EdgeSpace
from optimizer.windows.edges import Edges


def assemble(group: Group, draft: Draft, model: CostModel, traffic: Traffic) -> list[Tree]:
    """The trees of a draft, in one order whatever the order of the queries; feeds are named by local ids."""
    queries = _queries(group, draft)
    members = draft.members()
    trees = [_answering(group, model, members[t], queries[t]) for t in range(draft.answering)]
    trees += [_free(edges, group) for edges in draft.free]
    named = [replace(tree, id=str(t), feed=_feed(draft.feeds[t])) for t, tree in enumerate(trees)]
    carried = _carried(named)
    return [replace(tree, cost=tree_cost(tree, carried.get(tree.feed), traffic)) for tree in carried.values()]


def _answering(group: Group, model: CostModel, members: IntArray, queries: Sequence[str | int]) -> Tree:
    problem = group.rows.problem
    windows = problem.windows.take(members)
    mask = 0
    for number in np.unique(problem.class_of[members]).tolist():
        mask |= 1 << number
    rate = problem.space.rate(mask)
    demands = [_demand(problem, model, measure, windows, members, rate) for measure in range(len(problem.measures))]
    return Tree("", queries, windows, rate, tuple(d for d in demands if len(d.windows)), EVENTS, group.group_by, 0.0)


def _demand(
    problem: Problem, model: CostModel, measure: int, windows: WindowSet, members: IntArray, rate: Fraction
) -> Demand:
    asks = problem.asking[measure]
    askers = windows if asks is None or asks[members].all() else windows.take(asks[members])
    names = model.techniques[measure]
    if len(names) == 1 or not len(askers):
        return Demand(problem.measures[measure], names[0], askers)
    load = Load.of_columns(askers.range, askers.slide)
    return Demand(problem.measures[measure], cheapest_technique(names, load, rate), askers)


def _free(edges: Edges, group: Group) -> Tree:
    """A tree that only feeds others: one tumbling window per progression stands for its slices."""
    columns = np.array([(period, period, residue) for period, residue in edges], dtype=np.int64)
    windows = WindowSet(columns[:, 0], columns[:, 1], columns[:, 2], group.rows.windows.rows)
    return Tree("", (), windows, EdgeSpace([edges]).rate(1), (), EVENTS, group.group_by, 0.0)


def _carried(trees: list[Tree]) -> dict[str, Tree]:
    """A tree holds what the trees it feeds need, besides its own measures."""
    tree_of = {tree.id: tree for tree in trees}
    for tree in trees:
        needed = set(tree.measures)
        while tree.feed != EVENTS:
            feeder = tree_of[tree.feed]
            missing = sorted(needed - set(feeder.measures))
            tree_of[feeder.id] = tree = replace(feeder, demands=feeder.demands + tuple(map(_passed_on, missing)))
    return tree_of


def _passed_on(measure: Measure) -> Demand:
    return Demand(measure, "", WindowSet.of(()))


def _feed(feed: int) -> str:
    return EVENTS if feed == RAW else str(feed)


def _queries(group: Group, draft: Draft) -> list[Sequence[str | int]]:
    """The ids of every tree's queries, in their order."""
    labels = _row_labels(group.rows, draft)
    if draft.answering < 64:
        positions = [np.flatnonzero(labels == tree) for tree in range(draft.answering)]
    else:
        order = np.argsort(labels, kind="stable")
        positions = np.split(order, np.searchsorted(labels[order], np.arange(1, draft.answering)))
    ids = group.ids
    if isinstance(ids, Ids):
        return [Ids(ids.positions[places]) for places in positions]
    return [tuple(ids[p] for p in places.tolist()) for places in positions]


def _row_labels(rows: Rows, draft: Draft) -> IntArray:
    if not draft.by_class:
        return draft.labels[rows.window_of]
    tree_of = np.zeros(len(rows.problem.classes), dtype=np.int64)
    tree_of[rows.problem.class_of] = draft.labels
    return tree_of[rows.class_of]
