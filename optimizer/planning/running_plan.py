"""A plan that queries join and leave one by one, by Incremental WeaveShare (section 5.2 of the Weave Share paper)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.cost.tree_cost import RAW
from optimizer.errors import HeddleError
from optimizer.plan.definition import Measure, Plan, Traffic
from optimizer.plan.prices import Prices
from optimizer.planning.choices import AUTO, find_strategy, techniques_for
from optimizer.planning.draft_group import Group, cost_model
from optimizer.planning.windows import plan_drafts
from optimizer.strategies.contract.problem import DEFAULT_OPTIONS, SearchOptions, Watch, make_measures_problem
from optimizer.strategies.contract.strategy import Draft, exact_cost
from optimizer.strategies.contract.units import Pricing, Units
from optimizer.strategies.search.feeds import Cascades, add_helpers, as_draft
from optimizer.strategies.search.incremental import TOLERANCE, Drift, insert_into, settle
from optimizer.windows.edges import Edges
from optimizer.windows.window import Window, WindowSet

STRATEGY = "incremental_weave_share"
ANY = (Measure(),)
Queries = frozenset[str]


@dataclass(frozen=True)
class Member:
    """A query of a running plan: its window, and the measures it needs."""

    window: Window
    measures: tuple[Measure, ...] = ANY


@dataclass(frozen=True)
class Levels:
    """What feeds the trees of a plan as it was found, those that answer no query last and given by their edges."""

    feeds: tuple[int, ...]
    free: tuple[Edges, ...] = ()


class Posed:
    """The queries of a running plan as a problem, and what forests of their windows cost.

    >>> running = RunningPlan(Traffic(rate=1.2), "panes", strategy="cascade")
    >>> for query, window in (("a", Window(16, 4)), ("b", Window(10, 5))):
    ...     running.add(query, window)
    >>> posed = running.posed
    >>> apart = posed.forest([frozenset("a"), frozenset("b")])
    >>> list(map(sorted, posed.trees(apart))), round(posed.cost(apart), 3), posed.draft(apart).feeds
    ([['a'], ['b']], 3.4, (2, 2, -1))
    """

    def __init__(self, running: RunningPlan) -> None:
        self.ids = sorted(running.members)
        members = [running.members[query] for query in self.ids]
        measures = sorted({measure for member in members for measure in member.measures})
        needs = [np.array([measure in member.measures for member in members]) for measure in measures]
        windows = WindowSet.of(member.window for member in members)
        rows = make_measures_problem(windows, needs, measures, options=running.options)
        self.group = Group(rows, self.ids, running.group_by)
        self.model = cost_model(self.group, running.technique, running.traffic, running.prices)
        self.units = Units.windows(rows.problem)
        self.pricing = Pricing(self.units, self.model)
        self.cascades = Cascades(self.pricing) if running.has_levels else None
        self.unit_of = dict(zip(self.ids, rows.window_of.tolist(), strict=True))

    def cost(self, forest: Sequence[int]) -> float:
        """Return what a forest costs per tick and key, with the feeds that suit it best where it may have levels."""
        return self.cascades.cost(forest) if self.cascades else self.pricing.forest(forest)

    def forest(self, trees: Sequence[Queries]) -> list[int]:
        """Return trees of queries as masks of windows; a window that two trees answer stays in the first."""
        forest, placed = [], 0
        for tree in trees:
            mask = 0
            for query in tree:
                mask |= 1 << self.unit_of[query]
            forest.append(mask & ~placed)
            placed |= mask
        return [mask for mask in forest if mask]

    def trees(self, forest: Sequence[int]) -> list[Queries]:
        """Return masks of windows as trees of queries."""
        labels = self.units.labels(list(forest))
        homes: list[list[str]] = [[] for _ in forest]
        for query in self.ids:
            homes[labels[self.unit_of[query]]].append(query)
        return [frozenset(home) for home in homes]

    def draft(self, forest: Sequence[int]) -> Draft:
        """Return a forest with its feeds as a search leaves it."""
        if self.cascades is None:
            return Draft.of_forest(self.units, forest)
        return as_draft(add_helpers(self.cascades.feed(list(forest)), self.cascades), self.units)


class RunningPlan:
    """Trees of query ids. A query joins where it adds least, and what has changed is merged further while that pays.

    The tolerance is how far the cost may rise above what the performance slope predicts before a rebuild is due; a
    rebuild is what `strategy` makes of all queries.

    >>> running = RunningPlan(Traffic(rate=1.2), "panes", tolerance=1.0)
    >>> for query, window in (("a", Window(16, 4)), ("b", Window(10, 5)), ("c", Window(8, 4))):
    ...     running.add(query, window)
    >>> sorted(map(sorted, running.trees)), round(running.cost, 3)
    ([['a', 'b', 'c']], 4.4)
    """

    def __init__(
        self,
        traffic: Traffic,
        technique: str = AUTO,
        group_by: tuple[str, ...] = (),
        tolerance: float = TOLERANCE,
        strategy: str = "weave_share",
        prices: Prices | None = None,
        options: SearchOptions = DEFAULT_OPTIONS,
    ) -> None:
        self.traffic, self.technique, self.group_by = traffic, technique, group_by
        self.card, self.prices, self.options = find_strategy(strategy), prices, options
        self.members: dict[str, Member] = {}
        self.trees: list[Queries] = []
        self.levels: Levels | None = None  # None: feeds are chosen anew
        self.drift = Drift(tolerance)
        self.rebuilds = True  # at once when it is due; else somebody else sees to it
        self._posed: Posed | None = None

    @property
    def has_levels(self) -> bool:
        """Whether trees may feed trees."""
        return self.card.model != "weave_share"

    @property
    def cost(self) -> float:
        """Operations per second of the plan as it is; CPU seconds where it goes by a machine's prices."""
        rows = any(member.window.rows for member in self.members.values())
        scale = self.traffic.ticks_per_second(rows) * self.traffic.keys_of(self.group_by, rows)
        return self.search_cost * scale

    @property
    def search_cost(self) -> float:
        """The cost per tick and key, which is what searches compare."""
        return self.posed.cost(self.posed.forest(self.trees)) if self.members else 0.0

    @property
    def posed(self) -> Posed:
        """The problem that the queries pose now."""
        if self._posed is None:
            self._posed = Posed(self)
        return self._posed

    def adopt(self, trees: Sequence[Mapping[str, Member]], levels: Levels | None = None) -> None:
        """Take over the trees of an earlier plan, unchanged."""
        for tree in trees:
            self.members |= tree
        self.trees = [frozenset(tree) for tree in trees]
        self.levels, self._posed = levels, None

    def add(self, query: str, window: Window, measures: tuple[Measure, ...] = ANY) -> None:
        """Let a query join; the plan is woven anew when it has drifted and that makes it cheaper."""
        if query in self.members:
            raise HeddleError(f"{query} is in the plan already; delete it first, or give the new query another id")
        self.change({query: Member(window, measures)}, ())

    def delete(self, query: str) -> None:
        """Let a query leave."""
        if query not in self.members:
            raise HeddleError(f"{query} is not in the plan; it has {len(self.members)} queries")
        self.change({}, (query,))

    def change(self, joined: Mapping[str, Member], left: Collection[str], lost: Sequence[Queries] = ()) -> None:
        """Let queries join and leave at once; `lost` are trees that others have left already."""
        for member in joined.values():
            techniques_for(self.technique, member.measures)
        remaining = [tree.difference(left) for tree in self.trees]
        losers = [after for before, after in zip(self.trees, remaining, strict=True) if after != before]
        self.members = {query: self.members[query] for query in self.members if query not in left} | dict(joined)
        self.levels = self._posed = None
        for _ in (*joined, *left):
            self.drift.count_change()
        self.trees = [tree for tree in remaining if tree]
        if self.members:
            self._weave_in(sorted(joined), [tree for tree in (*lost, *losers) if tree])
            self._rebuild_if_due()

    def _weave_in(self, joined: Sequence[str], lost: Sequence[Queries]) -> None:
        posed, price = self.posed, self.posed.pricing.tree
        forest = posed.forest(self.trees)
        touched = [1 << posed.unit_of[next(iter(tree))] for tree in lost]
        for query in joined:
            unit = 1 << posed.unit_of[query]
            if not any(tree & unit for tree in forest):  # equal windows are always answered by one tree
                forest = insert_into(forest, unit, price, posed.cost)
                touched.append(unit)
        for unit in touched:
            forest = settle(forest, next(tree for tree in forest if tree & unit), price, posed.cost)
        self.trees = posed.trees(forest)

    def _rebuild_if_due(self) -> None:
        if self.rebuilds and self.is_due():
            self.rebuild()

    def is_due(self) -> bool:
        """Return whether the plan has drifted: too dear for its slope, or too many changes to trust it."""
        return self.drift.is_due(len(self.members), self.search_cost)

    def deviation(self) -> float:
        """Return how much dearer the plan is than its performance slope predicts, as a share."""
        return self.drift.deviation(len(self.members), self.search_cost)

    def exact_deviation(self) -> float:
        """Return how much dearer the plan is than a rebuild would be, as a share."""
        if not self.members:
            return 0.0
        posed, problem = self.posed, self.posed.group.rows.problem
        built, now = self.card.draft(problem, posed.model, Watch()), self.draft()[1]
        return exact_cost(now, problem, posed.model) / exact_cost(built, problem, posed.model) - 1

    def rebuild(self) -> bool:
        """Weave all queries anew, and keep that if it is cheaper; return whether it is."""
        posed, now = self.posed, self.search_cost
        forest = self._build()
        is_cheaper = posed.cost(forest) < now
        if is_cheaper:
            self.trees, self.levels = posed.trees(forest), None
        self.remember_build()
        return is_cheaper

    def remember_build(self) -> None:
        """Record the present plan as what a build gives: a point of the performance slope."""
        self.drift.remember_build(len(self.members), self.search_cost)

    def plan(self, stream: str = "") -> Plan:
        """Return the plan as it is, as data."""
        return plan_drafts(stream, STRATEGY, [self.draft()], self.technique, self.traffic, prices=self.prices)

    def draft(self) -> tuple[Group, Draft]:
        """Return the plan as it is, in the form that a search leaves."""
        posed = self.posed
        if self.levels is None:
            return posed.group, posed.draft(posed.forest(self.trees))
        place = {query: number for number, tree in enumerate(self.trees) for query in tree}
        labels = np.zeros(len(posed.units), dtype=np.int64)
        labels[posed.group.rows.window_of] = [place[query] for query in posed.ids]
        return posed.group, Draft(labels, self.levels.feeds, self.levels.free)

    def _build(self) -> list[int]:
        """Return what the strategy makes of all queries, as masks of windows."""
        posed = self.posed
        draft = self.card.draft(posed.group.rows.problem, posed.model, Watch())
        return [posed.units.mask_of(part) for part in draft.members()]


def levels_by_number(feeds: Sequence[int], free: Sequence[Edges]) -> Levels | None:
    """Return the levels of a plan; None where all trees read raw events.

    >>> levels_by_number([RAW, RAW], []) is None
    True
    """
    return Levels(tuple(feeds), tuple(free)) if any(feed != RAW for feed in feeds) else None
