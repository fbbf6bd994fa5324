"""A plan for a catalog that has changed by a few queries: they join and leave, the rest stays where it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query
from optimizer.cost.load import Load
from optimizer.cost.omega import least_omega
from optimizer.cost.tree_cost import RAW, feed, finals, partials
from optimizer.errors import HeddleError
from optimizer.plan.definition import EVENTS, Measure, Plan, Traffic, Tree
from optimizer.plan.measures import measures_of
from optimizer.planning.draft_group import Group, cost_model
from optimizer.planning.names import AUTO, techniques_for
from optimizer.planning.recent import Recent
from optimizer.planning.stream import count_keys, plan_stream
from optimizer.planning.windows import plan_drafts
from optimizer.strategies import STRATEGIES
from optimizer.strategies.contract.draft import Draft
from optimizer.strategies.contract.problem import make_measures_problem
from optimizer.strategies.contract.watch import Watch
from optimizer.strategies.search.incremental import IncrementalForest
from optimizer.windows.columns import WindowSet
from optimizer.windows.edge_space import EdgeSpace
from optimizer.windows.edges import progressions, union
from optimizer.windows.window import Window

STRATEGY = "incremental_weave_share"
ANY = (Measure(),)


@dataclass(frozen=True)
class Member:
    """A query of a running plan: its window, and the measures it needs."""

    window: Window
    measures: tuple[Measure, ...] = ANY


class RunningPlan:
    """Trees of query ids. A query joins where it adds least; `rebuild` weaves all of them anew.

    The tolerance is how far the cost may rise above what the performance slope predicts before a rebuild is due.

    >>> running = RunningPlan(Traffic(rate=1.2), "panes")
    >>> for query, window in (("a", Window(16, 4)), ("b", Window(10, 5)), ("c", Window(8, 4))):
    ...     running.add(query, window)
    >>> sorted(map(sorted, running.trees)), round(running.cost, 3)
    ([['a', 'b', 'c']], 4.4)
    >>> running.rebuild(), sorted(map(sorted, running.trees)), round(running.cost, 3)
    (True, [['a', 'c'], ['b']], 4.3)
    """

    def __init__(
        self, traffic: Traffic, technique: str = AUTO, group_by: tuple[str, ...] = (), tolerance: float = 0.05
    ) -> None:
        self.traffic, self.technique, self.group_by = traffic, technique, group_by
        self.members: dict[str, Member] = {}
        self._forest: IncrementalForest[frozenset[str]] = IncrementalForest(self._price, self._weave, tolerance)
        self._prices: dict[frozenset[Member], float] = {}

    @property
    def trees(self) -> list[frozenset[str]]:
        """The queries of every tree."""
        return self._forest.trees

    @property
    def cost(self) -> float:
        """Operations per second of the plan as it is."""
        return self._forest.cost

    def adopt_tree(self, members: Mapping[str, Member]) -> None:
        """Take over a tree of an earlier plan as it is."""
        self.members |= members
        self._forest.trees.append(frozenset(members))

    def add(self, query: str, window: Window, measures: tuple[Measure, ...] = ANY) -> None:
        """Let a query join; the plan is woven anew when it has drifted and that makes it cheaper."""
        if query in self.members:
            raise HeddleError(f"{query} is in the plan already; delete it first, or give the new query another id")
        techniques_for(self.technique, measures)
        self.members[query] = Member(window, measures)
        home = next((tree for tree in self.trees if any(self.members[id].window == window for id in tree)), None)
        if home is None:
            self._forest.join(frozenset({query}), len(self.members))
        else:  # equal windows are always answered by one tree
            trees = [tree | {query} if tree is home else tree for tree in self.trees]
            self._forest.change(trees, len(self.members))

    def delete(self, query: str) -> None:
        """Let a query leave."""
        if query not in self.members:
            raise HeddleError(f"{query} is not in the plan; it has {len(self.members)} queries")
        trees = [rest for tree in self.trees if (rest := tree - {query})]
        del self.members[query]
        self._forest.change(trees, len(self.members))

    def deviation(self) -> float:
        """Return how much dearer the plan is than its performance slope predicts, as a share."""
        return self._forest.drift.deviation(len(self.members), self.cost)

    def exact_deviation(self) -> float:
        """Return how much dearer the plan is than a rebuild would be, as a share."""
        rebuilt = self._forest.cost_of(self._weave(self.trees))
        return self.cost / rebuilt - 1 if rebuilt else 0.0

    def rebuild(self) -> bool:
        """Weave anew; return whether that made the plan cheaper. The plan never becomes dearer."""
        return self._forest.rebuild(len(self.members))

    def plan(self, stream: str = "") -> Plan:
        """Return the plan as it is, as data."""
        return plan_drafts(stream, STRATEGY, [self.draft()], self.technique, self.traffic)

    def draft(self) -> tuple[Group, Draft]:
        """Return the plan as it is, in the form that a search leaves."""
        group = self._group()
        place = {query: number for number, tree in enumerate(self.trees) for query in tree}
        labels = np.zeros(len(group.rows.problem.windows), dtype=np.int64)
        labels[group.rows.window_of] = [place[query] for query in sorted(self.members)]
        return group, Draft(labels, (RAW,) * len(self.trees))

    def _price(self, tree: frozenset[str]) -> float:
        """Return the operations per second of a tree of these queries; every price is computed once."""
        members = frozenset(self.members[query] for query in tree)
        if members not in self._prices:
            self._prices[members] = self._compute_price(members)
        return self._prices[members]

    def _compute_price(self, members: frozenset[Member]) -> float:
        rows = next((member.window.rows for member in members), False)
        keys = self.traffic.keys_of(self.group_by, rows)
        edges = union(progressions(member.window) for member in members)
        rate = EdgeSpace([edges]).rate_float(1)
        measures = sorted({measure for member in members for measure in member.measures})
        total = 0.0
        for measure, names in zip(measures, techniques_for(self.technique, measures), strict=True):
            load = Load.of(member.window for member in members if measure in member.measures)
            fewest = least_omega(names, load, rate)
            total += feed(self.traffic.events_per_tick(rows), 1) + finals(partials(rate, keys), fewest)
        return total * self.traffic.ticks_per_second(rows)

    def _group(self) -> Group:
        """Return the queries as rows, in the order of their ids."""
        ids = sorted(self.members)
        members = [self.members[query] for query in ids]
        measures = sorted({measure for member in members for measure in member.measures})
        wanted = [np.array([measure in member.measures for member in members]) for measure in measures]
        windows = WindowSet.of(member.window for member in members)
        return Group(make_measures_problem(windows, wanted, measures), ids, self.group_by)

    def _weave(self, trees: list[frozenset[str]]) -> list[frozenset[str]]:
        """Return what WeaveShare makes of all queries, whatever their trees are now."""
        if not self.members:
            return []
        group, ids = self._group(), sorted(self.members)
        model = cost_model(group, self.technique, self.traffic)
        draft = STRATEGIES["weave_share"].draft(group.rows.problem, model, Watch())
        labels = draft.labels[group.rows.window_of]
        return [frozenset(ids[p] for p in np.flatnonzero(labels == tree).tolist()) for tree in np.unique(labels)]


GroupKey = tuple[tuple[str, ...], bool, str]  # group-by columns, whether windows are in rows, and of which rows


def reweave(plan: Plan, catalog: Catalog, recent: Recent | None = None) -> Plan:
    """Change a plan so that it answers the catalog, by Incremental WeaveShare.

    Trees that feed trees cannot be changed query by query: such a plan is searched anew by its own strategy. Recent
    events tell the keys, unless the user set them.

    >>> from optimizer.catalog.model.query import Stream
    >>> from optimizer.catalog.model.table import Shape, TableBuilder
    >>> from optimizer.windows.window import Window
    >>> def catalog_of(**slides):
    ...     queries = TableBuilder()
    ...     for name, seconds in slides.items():
    ...         window = Window(6 * seconds * 10**6, seconds * 10**6)
    ...         queries.add(name, name, Shape("s", "max", ("x",), "", (), name), window)
    ...     return Catalog({"s": Stream("s", "ts", 0)}, queries.table(), {})
    >>> plan = plan_stream(catalog_of(a=10, b=20), "s", 1000.0, "weave_share")
    >>> [tree.queries for tree in reweave(plan, catalog_of(b=20, c=40)).trees]  # a left, c joined
    [('b', 'c')]
    """
    technique = technique_of(plan)
    if any(tree.feed != EVENTS for tree in plan.trees):
        keys = 1.0 if recent and not _has_fixed_keys(plan) else plan.keys
        replanned = plan_stream(catalog, plan.stream, plan.rate, plan.strategy, technique, keys, recent=recent)
        return replace(replanned, traffic=replace(replanned.traffic, keys=plan.keys))
    queries = {query.id: query for query in catalog.of_stream(plan.stream)}
    woven = {id: query for id, query in queries.items() if AGGREGATES[query.aggregate].shared}
    traffic = _traffic(plan, woven.values(), recent)
    running = _running_plans(plan, woven, technique, traffic)
    placed = {str(query) for tree in plan.trees for query in tree.queries}
    for id in sorted(woven.keys() - placed):
        group = running.setdefault(_query_key(woven[id]), RunningPlan(traffic, technique, woven[id].group_by))
        group.add(id, woven[id].window, tuple(measures_of(woven[id])))
    drafts = [group.draft() for _, group in sorted(running.items()) if group.members]
    rewoven = plan_drafts(plan.stream, STRATEGY, drafts, technique, traffic, recent)
    unshared = tuple(sorted(queries.keys() - woven.keys()))
    return replace(rewoven, catalog_fingerprint=catalog.fingerprint(plan.stream), unshared=unshared)


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


def _running_plans(
    plan: Plan, woven: dict[str, Query], technique: str, traffic: Traffic
) -> dict[GroupKey, RunningPlan]:
    """Return the plan's trees as running plans, without the queries that are gone or ask something else now."""
    running: dict[GroupKey, RunningPlan] = {}
    for tree in plan.trees:
        key = _tree_key(tree)
        ids = [str(id) for id in tree.queries if str(id) in woven and _query_key(woven[str(id)]) == key]
        if not ids:
            continue
        group = running.setdefault(key, RunningPlan(traffic, technique, tree.group_by))
        group.adopt_tree({id: Member(woven[id].window, tuple(measures_of(woven[id]))) for id in ids})
    return running


def _query_key(query: Query) -> GroupKey:
    return query.group_by, query.window.rows, query.where if query.window.rows else ""


def _tree_key(tree: Tree) -> GroupKey:
    return tree.group_by, tree.windows.rows, tree.measures[0].where if tree.windows.rows else ""
