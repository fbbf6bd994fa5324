"""A plan for a catalog that has changed by a few queries: they join and leave, the rest stays where it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query
from optimizer.cost.tree_cost import RAW
from optimizer.plan.definition import Builds, Plan, Traffic, Tree
from optimizer.plan.measures import measures_of
from optimizer.plan.prices import Prices
from optimizer.planning.choices import AUTO
from optimizer.planning.recent import Recent
from optimizer.planning.running_plan import STRATEGY, Member, RunningPlan, levels_by_number
from optimizer.planning.stream import count_keys
from optimizer.planning.windows import plan_drafts
from optimizer.strategies import STRATEGIES
from optimizer.strategies.contract.problem import SearchOptions
from optimizer.strategies.search.incremental import TOLERANCE, Drift
from optimizer.windows.window import PAIRS

GroupKey = tuple[tuple[str, ...], bool, str]  # group-by columns, whether windows are in rows, and of which rows


@dataclass(frozen=True)
class Rewoven:
    """A plan that was changed, by how much it is dearer than a build should be, and whether a build is due."""

    plan: Plan
    deviation: float
    is_due: bool


def reweave(
    plan: Plan,
    catalog: Catalog,
    recent: Recent | None = None,
    prices: Prices | None = None,
    tolerance: float = TOLERANCE,
    rebuilds: bool = True,
) -> Rewoven:
    """Change a plan so that it answers the catalog, by Incremental WeaveShare; groups without changes stay as they are.

    Recent events tell the keys, unless the user set them. Without `rebuilds`, a plan that drifts only says `is_due`.

    >>> from optimizer.catalog.model.query import Stream
    >>> from optimizer.catalog.model.table import Shape, TableBuilder
    >>> from optimizer.planning.stream import plan_stream
    >>> from optimizer.windows.window import Window
    >>> def catalog_of(**slides):
    ...     queries = TableBuilder()
    ...     for name, slide in slides.items():
    ...         queries.add(name, name, Shape("s", "max", ("x",), "", (), name), Window(6 * slide, slide))
    ...     return Catalog({"s": Stream("s", "ts", 0)}, queries.table(), {})
    >>> plan = plan_stream(catalog_of(a=10**7, b=2 * 10**7), "s", 1000.0, "weave_share")
    >>> [tree.queries for tree in reweave(plan, catalog_of(b=2 * 10**7, c=4 * 10**7)).plan.trees]  # a left, c joined
    [('b', 'c')]
    """
    queries = {query.id: query for query in catalog.of_stream(plan.stream)}
    woven = {id: each for id, each in queries.items() if AGGREGATES[each.aggregate].shared and id not in plan.reasons}
    traffic = _traffic(plan, woven.values(), recent)
    make = _Running(plan, technique_of(plan), traffic, prices, tolerance, rebuilds)
    groups = {key: group for key, group in sorted(_change_groups(make, woven).items()) if group.members}
    drafts = [group.draft() for group in groups.values()]
    changed = replace(
        plan_drafts(plan.stream, STRATEGY, drafts, make.technique, traffic, recent, prices),
        catalog_fingerprint=catalog.fingerprint(plan.stream),
        unshared=tuple(sorted(queries.keys() - woven.keys())),
        reasons={id: reason for id, reason in plan.reasons.items() if id in queries},
        builds=Builds(make.strategy, tuple(_build_entry(key, group.drift) for key, group in groups.items())),
    )
    deviations = [group.deviation() for group in groups.values()]
    return Rewoven(changed, max(deviations, default=0.0), any(group.is_due() for group in groups.values()))


def _change_groups(make: _Running, woven: dict[str, Query]) -> dict[GroupKey, RunningPlan]:
    """Return the groups of a plan as they are once queries that are not in it have joined, and others have left."""
    by_group = _trees_by_group(make.plan, woven)
    running = {key: make.adopt(key, trees, woven) for key, trees in by_group.items()}
    placed = {str(query) for tree in make.plan.trees for query in tree.queries}
    joining: dict[GroupKey, dict[str, Member]] = {key: {} for key in running}
    for id in sorted(woven.keys() - placed):
        joining.setdefault(_query_key(woven[id]), {})[id] = _member(woven[id])
    for key, members in joining.items():
        group = running.setdefault(key, make.begin(key))
        smaller = [tree for tree in by_group.get(key, ()) if _has_lost(tree, key, woven)]
        if members or smaller:
            group.change(members, (), [frozenset(_members(tree, key, woven)) for tree in smaller])
    return running


def technique_of(plan: Plan) -> str:
    """Return the technique of all trees, or auto when they have several.

    >>> from optimizer.planning.windows import optimize
    >>> from optimizer.windows.window import Window
    >>> technique_of(optimize([Window(16, 4), Window(10, 5)], 1.2, technique="daba"))
    'daba'
    """
    names = {demand.technique for tree in plan.trees for demand in tree.demands if demand.technique}
    return names.pop() if len(names) == 1 else AUTO


def _has_fixed_keys(plan: Plan) -> bool:
    """Say whether the user set one number of keys for all groupings, rather than having each grouping counted."""
    return not plan.traffic.groups and plan.keys != 1.0 and any(tree.group_by for tree in plan.trees)


def _traffic(plan: Plan, queries: Iterable[Query], recent: Recent | None) -> Traffic:
    """Return the plan's traffic, with the keys of every grouping that there is now."""
    if recent is None or _has_fixed_keys(plan):
        return plan.traffic
    slides = [(query.group_by, query.window.slide) for query in queries if not query.window.rows]
    return replace(plan.traffic, groups=count_keys(slides, recent))


@dataclass(frozen=True)
class _Running:
    """How the groups of a plan are made to run: the strategy that built them, and what is known of their builds."""

    plan: Plan
    technique: str
    traffic: Traffic
    prices: Prices | None
    tolerance: float
    rebuilds: bool

    @property
    def strategy(self) -> str:
        """The strategy that built the plan, before any changes."""
        name = self.plan.builds.strategy or self.plan.strategy
        return name if name in STRATEGIES and name != STRATEGY else "weave_share"

    def begin(self, key: GroupKey) -> RunningPlan:
        """Return a group without queries."""
        slicing = PAIRS if key[1] or not self.plan.trees else self.plan.trees[0].slicing
        options = SearchOptions(slicing=slicing)
        group = RunningPlan(self.traffic, self.technique, key[0], self.tolerance, self.strategy, self.prices, options)
        group.rebuilds = self.rebuilds
        return group

    def adopt(self, key: GroupKey, trees: Sequence[Tree], woven: dict[str, Query]) -> RunningPlan:
        """Return a group with the plan's trees, without the queries that are gone."""
        group = self.begin(key)
        answering = [tree for tree in trees if tree.queries]
        free = [tree for tree in trees if not tree.queries]
        place = {tree.id: number for number, tree in enumerate([*answering, *free])}
        feeds = [place.get(tree.feed, RAW) for tree in (*answering, *free)]
        members = [_members(tree, key, woven) for tree in answering]
        group.adopt([tree for tree in members if tree], levels_by_number(feeds, [tree.edges() for tree in free]))
        self._remember(key, group, sum(len(tree.queries) for tree in trees))
        return group

    def _remember(self, key: GroupKey, group: RunningPlan, queries: int) -> None:
        """Take up the performance slope of the group; a plan without one is a build itself."""
        slopes = {name: (builds, changes) for name, builds, changes in self.plan.builds.groups}
        if _group_name(key) in slopes:
            builds, changes = slopes[_group_name(key)]
            group.drift = Drift(self.tolerance, builds=builds, changes=changes)
        else:
            group.remember_build()
        for _ in range(queries - len(group.members)):  # those that are gone from the catalog have left
            group.drift.count_change()


def _member(query: Query) -> Member:
    return Member(query.window, tuple(measures_of(query)))


def _members(tree: Tree, key: GroupKey, woven: dict[str, Query]) -> dict[str, Member]:
    """Return the queries of a tree that are still there and still ask what the tree answers."""
    ids = [str(id) for id in tree.queries if str(id) in woven and _query_key(woven[str(id)]) == key]
    return {id: _member(woven[id]) for id in ids}


def _has_lost(tree: Tree, key: GroupKey, woven: dict[str, Query]) -> bool:
    return len(_members(tree, key, woven)) < len(tree.queries)


def _trees_by_group(plan: Plan, woven: dict[str, Query]) -> dict[GroupKey, list[Tree]]:
    """Return the trees of every group; one that answers no query belongs to the trees that it feeds."""
    groups: dict[GroupKey, list[Tree]] = {}
    for tree in plan.trees:
        groups.setdefault(_tree_key(tree, woven), []).append(tree)
    return groups


def _build_entry(key: GroupKey, drift: Drift) -> tuple[str, tuple[tuple[int, float], ...], int]:
    return _group_name(key), tuple(drift.builds), drift.changes


def _group_name(key: GroupKey) -> str:
    return json.dumps(key)


def _query_key(query: Query) -> GroupKey:
    return query.group_by, query.window.rows, query.where if query.window.rows else ""


def _tree_key(tree: Tree, woven: Mapping[str, Query]) -> GroupKey:
    """Return what a tree's queries have in common; of a clock in rows, the queries that are as they were know it."""
    if not tree.windows.rows:
        return tree.group_by, False, ""
    there = [woven[str(id)] for id in tree.queries if str(id) in woven]
    same = [query for query in there if set(measures_of(query)) <= set(tree.measures)]
    return tree.group_by, True, same[0].where if same else ""
