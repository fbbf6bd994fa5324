"""Groupings: a coarser one is fed by the partials of a finer one, where these are fewer than the events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from optimizer.plan.cost import tree_cost
from optimizer.plan.definition import EVENTS, Traffic, Tree
from optimizer.planning.draft_group import lend_measures
from optimizer.planning.recent import Recent
from optimizer.planning.shards import measure_shards
from optimizer.strategies.contract.pricing import EPSILON
from optimizer.windows.edge_space import EdgeSpace
from optimizer.windows.slicing import CUTTY

MOST_TREES = 64  # that read raw events; every pair of them is tried


def roll_up_groupings(trees: Sequence[Tree], recent: Recent, traffic: Traffic) -> list[Tree]:
    """Feed trees that read raw events by a finer grouping's trees, where that makes the plan cheaper.

    A tree by region can read the partials of a tree by region and machine, if those are fewer than the events.

    >>> from fractions import Fraction
    >>> from optimizer.plan.definition import Demand, Measure
    >>> from optimizer.windows.columns import WindowSet
    >>> from optimizer.windows.window import Window
    >>> windows = WindowSet.of([Window(10, 10)])
    >>> highest = Demand(Measure("max", ("x",)), "panes", windows)
    >>> traffic = Traffic(1000.0, groups=((("region",), 2.0), (("region", "machine"), 10.0)))
    >>> by_machine = Tree("1", ("a",), windows, Fraction(1, 10), (highest,), EVENTS, ("region", "machine"), 0.0)
    >>> by_region = replace(by_machine, id="2", queries=("b",), group_by=("region",))
    >>> trees = [replace(tree, cost=tree_cost(tree, None, traffic)) for tree in (by_machine, by_region)]
    >>> [(tree.id, tree.feed, tree.cost) for tree in roll_up_groupings(trees, None, traffic)]
    [('1', 'events', 1001.0), ('2', '1', 1.2)]
    """
    by_id = {tree.id: tree for tree in trees}
    roots = [tree.id for tree in trees if tree.feed == EVENTS and not tree.windows.rows]
    if len(roots) > MOST_TREES:
        return list(trees)
    for id in sorted(roots, key=lambda id: (-len(by_id[id].group_by), id)):
        ways = [_feed_by(by_id, id, other, recent, traffic) for other in roots if _may_feed(by_id[other], by_id[id])]
        ways = [changed for changed in ways if not _changes_kind(by_id, changed)]
        gains = [sum(by_id[name].cost - tree.cost for name, tree in changed.items()) for changed in ways]
        if gains and max(gains) > EPSILON * by_id[id].cost:
            by_id |= ways[gains.index(max(gains))]
    return list(by_id.values())


def _may_feed(finer: Tree, tree: Tree) -> bool:
    """Say whether all partials of a tree can be made from those of the finer one."""
    if not set(tree.group_by) < set(finer.group_by) or not _fits_shards(finer, tree):
        return False
    if CUTTY in (finer.slicing, tree.slicing):  # the ends of windows are cut within a grouping only
        return False
    space = EdgeSpace([finer.edges(), tree.edges()])
    return space.rate(0b11) == space.rate(0b01) and space.exact


def _fits_shards(finer: Tree, tree: Tree) -> bool:
    """Say whether shards, if any, roll up: into shards of the same predicates, or into partials without any."""
    wheres = {measure.where for measure in tree.measures} - {""}
    if not finer.sharded:
        return not tree.sharded
    return not wheres or (tree.sharded and wheres <= {measure.where for measure in finer.measures})


def _changes_kind(by_id: dict[str, Tree], changed: dict[str, Tree]) -> bool:
    """Say whether lending turns partials into shards or back, which trees that are fed already do not fit."""
    return any(tree.sharded != by_id[name].sharded for name, tree in changed.items())


def _feed_by(by_id: dict[str, Tree], id: str, other: str, recent: Recent, traffic: Traffic) -> dict[str, Tree]:
    """Return the trees that change when tree `other` feeds tree `id`: both, and what the feeder is rolled up from."""
    tree = replace(by_id[id], feed=other)
    changed = {}
    needed, name = set(tree.measures), other
    while name != EVENTS:
        changed[name] = feeder = measure_shards(lend_measures(by_id[name], needed), by_id.values(), recent, traffic)
        name = feeder.feed
    for name, feeder in changed.items():
        changed[name] = replace(feeder, cost=tree_cost(feeder, changed.get(feeder.feed), traffic))
    return {**changed, id: replace(tree, cost=tree_cost(tree, changed[other], traffic))}
