"""Groupings: a coarser one is fed by the partials of a finer one, where these are fewer than the events.

The finer one may be a grouping that no query asks for: the union of two, where folding the events once and rolling up
twice pays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from optimizer.plan.definition import EVENTS, Traffic, Tree, tree_cost
from optimizer.planning.draft_group import lend_measures
from optimizer.planning.recent import Recent, measure_shards
from optimizer.strategies.contract.units import EPSILON
from optimizer.windows.edge_space import EdgeSpace, rate_of_edges
from optimizer.windows.edges import union
from optimizer.windows.window import CUTTY, WindowSet

MOST_TREES = 64  # that read raw events; every pair of them is tried
MOST_ROOTS = 12  # of which every pair is tried
Cost = Callable[[Sequence[Tree], Traffic], float]  # of all trees of a plan


def roll_up_groupings(trees: Sequence[Tree], recent: Recent, traffic: Traffic) -> list[Tree]:
    """Feed trees that read raw events by a finer grouping's trees, where that makes the plan cheaper.

    A tree by region can read the partials of a tree by region and machine, if those are fewer than the events.

    >>> from fractions import Fraction
    >>> from optimizer.plan.definition import Demand, Measure
    >>> from optimizer.windows.window import Window, WindowSet
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


def invent_groupings(trees: Sequence[Tree], recent: Recent, traffic: Traffic, cost: Cost) -> tuple[list[Tree], Traffic]:
    """Feed pairs of trees that read the events by a tree with the columns of both, as long as the plan gets cheaper.

    Of 1,000 events a second, halls and kinds make 10 slices each in 10 seconds, and both together 30: the events are
    folded once instead of twice.

    >>> from fractions import Fraction
    >>> from optimizer.plan.definition import Demand, Measure
    >>> from optimizer.windows.window import Window
    >>> class FewKeys:
    ...     def keys(self, group_by, slide):
    ...         return 30.0
    ...     def active(self, group_by, rate):
    ...         return ((1.0, 30.0),)
    >>> windows = WindowSet.of([Window(10, 10)])
    >>> highest = Demand(Measure("max", ("x",)), "panes", windows)
    >>> traffic = Traffic(1000.0, groups=((("hall",), 10.0), (("kind",), 10.0)))
    >>> by_hall = Tree("1", ("a",), windows, Fraction(1, 10), (highest,), EVENTS, ("hall",), 1001.0)
    >>> by_kind = replace(by_hall, id="2", queries=("b",), group_by=("kind",))
    >>> def operations(trees, traffic):
    ...     return sum(tree.cost for tree in trees)
    >>> made, known = invent_groupings([by_hall, by_kind], FewKeys(), traffic, operations)
    >>> [(tree.id, tree.feed, tree.group_by) for tree in made]
    [('1', 'union 1', ('hall',)), ('2', 'union 1', ('kind',)), ('union 1', 'events', ('hall', 'kind'))]
    >>> dict(known.groups)["hall", "kind"]
    30.0
    """
    best, least = (list(trees), traffic), cost(trees, traffic)
    while ways := _ways(*best, recent):
        costs = [cost(*way) for way in ways]
        if min(costs) >= least * (1 - EPSILON):
            break
        best, least = ways[costs.index(min(costs))], min(costs)
    return best


def _ways(trees: Sequence[Tree], traffic: Traffic, recent: Recent) -> list[tuple[list[Tree], Traffic]]:
    """Return the plans in which one more pair of trees is fed by a union of their groupings."""
    roots = [tree for tree in trees if _may_be_fed(tree)]
    if len(roots) > MOST_ROOTS:
        return []
    groupings = {tree.group_by for tree in trees}
    ways = []
    for one, other in combinations(roots, 2):
        columns = tuple(sorted({*one.group_by, *other.group_by}))
        if columns not in groupings and len(columns) > max(len(one.group_by), len(other.group_by)):
            ways.append(_with_union(trees, one, other, columns, _traffic_of(traffic, recent, columns, one, other)))
    return ways


def _may_be_fed(tree: Tree) -> bool:
    """Say whether a tree reads the events, in time, without predicates, and by whole slices."""
    plain = not tree.windows.rows and not any(measure.where for measure in tree.measures)
    return tree.feed == EVENTS and bool(tree.group_by) and plain and tree.slicing != CUTTY


def _traffic_of(traffic: Traffic, recent: Recent, columns: tuple[str, ...], *trees: Tree) -> Traffic:
    """Return the traffic with the keys of a grouping, as recent events have them."""
    slide = min(int(tree.windows.slide.min()) for tree in trees)
    groups = dict(traffic.groups) | {columns: recent.keys(columns, slide)}
    curves = dict(traffic.curves) | {columns: recent.active(columns, traffic.rate)}
    return replace(traffic, groups=tuple(groups.items()), curves=tuple(sorted(curves.items())))


def _with_union(
    trees: Sequence[Tree], one: Tree, other: Tree, columns: tuple[str, ...], traffic: Traffic
) -> tuple[list[Tree], Traffic]:
    edges = union([one.edges(), other.edges()])
    windows = np.array([(period, period, residue) for period, residue in edges], dtype=np.int64).T
    name = f"union {1 + sum(tree.id.startswith('union') for tree in trees)}"
    feeder = Tree(name, (), WindowSet(*windows), rate_of_edges(edges), (), EVENTS, columns, 0.0, slicing=one.slicing)
    feeder = lend_measures(feeder, {*one.measures, *other.measures})
    feeder = replace(feeder, cost=tree_cost(feeder, None, traffic))
    fed = {tree.id: replace(tree, feed=name) for tree in (one, other)}
    fed = {id: replace(tree, cost=tree_cost(tree, feeder, traffic)) for id, tree in fed.items()}
    return [*(fed.get(tree.id, tree) for tree in trees), feeder], traffic
