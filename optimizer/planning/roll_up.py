"""Groupings: a coarser one is fed by the partials of a finer one, where these are fewer than the events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from optimizer.plan.cost import tree_cost
from optimizer.plan.definition import EVENTS, Demand, Measure, Traffic, Tree
from optimizer.planning.recent import Recent
from optimizer.planning.shards import measured
from optimizer.strategies.contract.pricing import EPSILON
from optimizer.windows.columns import WindowSet
from optimizer.windows.edge_space import EdgeSpace

MOST_TREES = 64  # that read raw events; every pair of them is looked at


def roll_up_groupings(trees: Sequence[Tree], recent: Recent, traffic: Traffic) -> list[Tree]:
    """The same trees; where the plan gets cheaper by it, one that reads raw events is fed by a finer grouping's."""
    tree_of = {tree.id: tree for tree in trees}
    roots = [tree.id for tree in trees if tree.feed == EVENTS and not tree.windows.rows]
    if len(roots) > MOST_TREES:
        return list(trees)
    for id in sorted(roots, key=lambda id: (-len(tree_of[id].group_by), id)):
        ways = [
            _fed_by(tree_of, id, other, recent, traffic) for other in roots if _may_feed(tree_of[other], tree_of[id])
        ]
        ways = [changed for changed in ways if not _turned(tree_of, changed)]
        gains = [sum(tree_of[name].cost - tree.cost for name, tree in changed.items()) for changed in ways]
        if gains and max(gains) > EPSILON * tree_of[id].cost:
            tree_of |= ways[gains.index(max(gains))]
    return list(tree_of.values())


def _may_feed(finer: Tree, tree: Tree) -> bool:
    """Whether all partials of a tree can be made from those of the finer one."""
    if not set(tree.group_by) < set(finer.group_by) or not _alike(finer, tree):
        return False
    space = EdgeSpace([finer.edges(), tree.edges()])
    return space.rate(0b11) == space.rate(0b01) and space.exact


def _alike(finer: Tree, tree: Tree) -> bool:
    """Shards are rolled up into shards of the same predicates, or into partials without any."""
    wheres = {measure.where for measure in tree.measures} - {""}
    if not finer.sharded:
        return not tree.sharded
    return not wheres or (tree.sharded and wheres <= {measure.where for measure in finer.measures})


def _turned(tree_of: dict[str, Tree], changed: dict[str, Tree]) -> bool:
    """Whether what is lent turns partials into shards or back, which those that are fed already do not fit."""
    return any(tree.sharded != tree_of[name].sharded for name, tree in changed.items())


def _fed_by(tree_of: dict[str, Tree], id: str, other: str, recent: Recent, traffic: Traffic) -> dict[str, Tree]:
    """The trees that change when one feeds the other: both, and those the feeder is rolled up from itself."""
    tree = replace(tree_of[id], feed=other)
    changed = {}
    needed, name = set(tree.measures), other
    while name != EVENTS:
        feeder = tree_of[name]
        missing = sorted(needed - set(feeder.measures))
        feeder = replace(feeder, demands=feeder.demands + tuple(map(_lent, missing)))
        changed[name] = feeder = measured(feeder, tree_of.values(), recent, traffic)
        name = feeder.feed
    for name, feeder in changed.items():
        changed[name] = replace(feeder, cost=tree_cost(feeder, changed.get(feeder.feed), traffic))
    return {**changed, id: replace(tree, cost=tree_cost(tree, changed[other], traffic))}


def _lent(measure: Measure) -> Demand:
    return Demand(measure, "", WindowSet.of(()))
