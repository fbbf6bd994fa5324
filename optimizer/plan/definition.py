"""A plan as data: which trees evaluate a stream's queries, what feeds each tree, and what all of it costs.

The cost follows from the plan alone: every tree's feed, and its finals for every measure and key.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from optimizer.cost.omega import Load, omega
from optimizer.cost.tree_cost import feed, finals, partials
from optimizer.windows.edges import Edges, collapse, union
from optimizer.windows.window import CUTTY, PAIRS, FloatArray, WindowSet

EVENTS = "events"
Curve = tuple[tuple[float, float], ...]  # spans of time in seconds, and the keys that have an event in them


@dataclass(frozen=True, order=True)
class Measure:
    """What partials hold: a component of an expression, over the events that pass a predicate."""

    component: str = ""  # a name in COMPONENTS; "" for in-memory windows, which may hold any
    arguments: tuple[str, ...] = ()
    where: str = ""

    def __str__(self) -> str:
        text = f"{self.component}({', '.join(self.arguments)})" if self.component else "any"
        return f"{text} where {self.where}" if self.where else text


@dataclass(frozen=True)
class Demand:
    """One measure of a tree: the technique that answers it, and the distinct windows that ask for it."""

    measure: Measure
    technique: str  # "" in a tree that answers no query
    windows: WindowSet


@dataclass(frozen=True)
class Shards:
    """What recent events say of a tree's predicates, and whether it therefore keeps shards (per slice and signature).

    Rates are per second. alpha and beta count measures that take an event or a shard, per measure that shards hold.
    """

    predicates: int
    measures: int  # that shards hold: of every component and argument one, whatever its predicates
    events: float  # |T|: those that some query takes
    alpha: float
    shards: float  # k
    beta: float

    @property
    def together(self) -> float:
        """Aggregations with shards: |T| + k * beta."""
        return self.measures * (self.events + self.shards * self.beta)

    @property
    def separately(self) -> float:
        """Aggregations when every predicate is evaluated separately: alpha * |T|."""
        return self.measures * self.alpha * self.events

    @property
    def is_cheaper(self) -> bool:
        """Whether shards are cheaper."""
        return self.together < self.separately


@dataclass(frozen=True)
class Tree:
    """One execution tree. A tree that only feeds others has no queries; its windows stand for its slices."""

    id: str
    queries: Sequence[str | int]
    windows: WindowSet
    edge_rate: Fraction
    demands: tuple[Demand, ...]
    feed: str  # "events", or the id of the tree whose partials it folds
    group_by: tuple[str, ...]
    cost: float
    shards: Shards | None = None  # None: there is no choice, or nothing was measured
    queries_per_window: tuple[int, ...] = ()  # the number of queries of every window; (): evenly spread
    slicing: str = PAIRS

    @property
    def askers(self) -> FloatArray:
        """How many queries ask for every window."""
        even = len(self.queries) / max(len(self.windows), 1)
        return np.array(self.queries_per_window, float) if self.queries_per_window else np.full(len(self.windows), even)

    @property
    def sharded(self) -> bool:
        """Whether its predicates are evaluated together."""
        return self.shards is not None and self.shards.is_cheaper

    @property
    def technique(self) -> str:
        """The technique's name; several, one per measure, are joined by commas."""
        return ", ".join(dict.fromkeys(demand.technique for demand in self.demands if demand.technique))

    @property
    def techniques(self) -> dict[Measure, str]:
        """The technique of every measure that the tree answers."""
        return {demand.measure: demand.technique for demand in self.demands if demand.technique}

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What its partials hold, its own and what the trees it feeds need."""
        return tuple(demand.measure for demand in self.demands)

    def edges(self) -> Edges:
        """Return where its slices end, as arithmetic progressions."""
        return self._edges(self.slicing)

    def cuts(self) -> Edges:
        """Return where events are cut: at its edges, and by cutty also where windows end, until these are answered."""
        return self._edges(PAIRS if self.slicing == CUTTY else self.slicing)

    def _edges(self, slicing: str) -> Edges:
        classes, _ = collapse(self.windows.range, self.windows.slide, self.windows.offset, slicing)
        return union(classes)


@dataclass(frozen=True)
class Builds:
    """What changing a plan query by query goes by: the strategy that built it, and its performance slope.

    Per group of queries that may share trees (group-by columns, and for windows in rows their predicate): the last two
    builds as (queries, cost per tick and key), and how many queries have joined or left since.
    """

    strategy: str = ""
    groups: tuple[tuple[str, tuple[tuple[int, float], ...], int], ...] = ()


@dataclass(frozen=True)
class Traffic:
    """What a stream brings: events per second, keys active in a slice, and ticks of the clock in a second."""

    rate: float
    keys: float = 1.0
    ticks: int = 1
    groups: tuple[tuple[tuple[str, ...], float], ...] = ()  # keys by group-by columns, where they were counted
    curves: tuple[tuple[tuple[str, ...], Curve], ...] = ()  # keys active in a span of time, where they were measured
    shares: tuple[tuple[str, float], ...] = ()  # of the events that pass a predicate
    files: float = 0.0  # files a second, where they were counted

    def ticks_per_second(self, rows: bool) -> float:
        """Return how fast a clock runs: rows are counted by the events themselves."""
        return self.rate if rows else float(self.ticks)

    def events_per_tick(self, rows: bool) -> float:
        """Return the papers' lambda: events per tick of a clock."""
        return 1.0 if rows else self.rate / self.ticks

    def keys_of(self, group_by: tuple[str, ...], rows: bool) -> float:
        """Return for how many keys final work is done: 1 without keys, and in rows, whose clock runs by key anyway."""
        return dict(self.groups).get(group_by, self.keys) if group_by and not rows else 1.0

    def active_keys(self, group_by: tuple[str, ...], seconds: float) -> float:
        """Return how many keys have an event in so many seconds, on average; all of them in infinitely many.

        >>> round(Traffic(100.0, keys=50.0).active_keys(("machine",), 0.5), 1)  # 50 events, some of the same machine
        31.6
        """
        return float(self.active_keys_in(group_by, np.array([seconds]))[0])

    def active_keys_in(self, group_by: tuple[str, ...], seconds: FloatArray) -> FloatArray:
        """Return how many keys have an event in each of some spans of time, on average.

        Where nothing was measured, every event is of a random key.
        """
        curve = dict(self.curves).get(group_by)
        if curve is None:
            keys = self.keys_of(group_by, False)
            at_random: FloatArray = -keys * np.expm1(-self.rate * seconds / keys)
            return at_random
        spans, active = np.array(curve).T
        below = active[0] * np.minimum(seconds / spans[0], 1.0)
        measured: FloatArray = np.where(seconds < spans[0], below, np.interp(seconds, spans, active))
        return measured

    def share(self, where: str) -> float:
        """Return the share of the events that pass a predicate; all of them where nobody counted."""
        return dict(self.shares).get(where, 1.0)

    def longest_gap(self, group_by: tuple[str, ...], seconds: float) -> float:
        """Return the longest time between two events of a key that is likely to occur in so many seconds."""
        return self.active_keys(group_by, math.inf) / self.rate * math.log(max(self.rate * seconds, 2.0))


@dataclass(frozen=True)
class Costs:
    """Operations per second of a plan, and of the two plans that need no optimizer; CPU seconds where prices are known.

    Seconds are per second of the stream.
    """

    planned: float
    no_share: float
    shared: float
    seconds: float | None = None  # of the plan
    shared_seconds: float | None = None  # of one tree per grouping


@dataclass(frozen=True)
class Plan:
    """Everything the engine, the tracker and a reader need to know; equal content has an equal fingerprint."""

    stream: str
    strategy: str
    traffic: Traffic
    trees: tuple[Tree, ...]
    costs: Costs
    catalog_fingerprint: str = ""
    unshared: tuple[str, ...] = ()  # queries that plain Spark answers
    exact: bool = True
    builds: Builds = Builds()
    reasons: dict[str, str] = field(default_factory=dict)  # of such queries that have partials: why it does

    def __str__(self) -> str:
        """Return why the plan is good."""
        return self.explain()

    @property
    def rate(self) -> float:
        """Events per second (per tick, for in-memory windows)."""
        return self.traffic.rate

    @property
    def keys(self) -> float:
        """Mean number of keys active in a slice of a grouped tree."""
        return self.traffic.keys

    @property
    def cost(self) -> float:
        """Operations per second."""
        return self.costs.planned

    @property
    def milliseconds_per_thousand(self) -> float | None:
        """Estimated CPU milliseconds per 1,000 events; None where the machine's prices are not known."""
        return None if self.costs.seconds is None else self.costs.seconds / self.rate * 1e6

    @property
    def baselines(self) -> dict[str, float]:
        """What the two plans without an optimizer would cost."""
        return {"no_share": self.costs.no_share, "shared": self.costs.shared}

    @property
    def saving(self) -> float:
        """The share of the no-share cost that the plan saves."""
        return 1 - self.cost / self.costs.no_share if self.costs.no_share else 0.0

    def tree(self, id: str) -> Tree:
        """Return the tree of this id."""
        return next(tree for tree in self.trees if tree.id == id)

    def recomputed_cost(self) -> float:
        """Return the cost, from the trees alone."""
        return plan_cost(self)

    def explain(self) -> str:
        """Return why the plan is good: costs, saving, then one line per tree."""
        from optimizer.plan.explain import explain

        return explain(self)

    def to_json(self) -> str:
        """Return the plan as text; the same plan is always the same text."""
        from optimizer.plan.serialize import plan_to_dict

        return json.dumps(plan_to_dict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Return the plan a text holds, or one line that says why it holds none."""
        from optimizer.plan.serialize import plan_from_text

        return plan_from_text(text)

    def fingerprint(self) -> str:
        """Return a digest of what the plan does; neither the order of the catalog nor of the trees changes it."""
        from optimizer.plan.serialize import content

        text = json.dumps(content(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def plan_cost(plan: Plan) -> float:
    """Return the operations per second of all trees."""
    trees = {tree.id: tree for tree in plan.trees}
    return sum(tree_cost(tree, trees.get(tree.feed), plan.traffic) for tree in plan.trees)


def tree_cost(tree: Tree, feeder: Tree | None, traffic: Traffic) -> float:
    """Return the operations per second of one tree; `feeder` is the tree whose partials it reads, if any."""
    rows = tree.windows.rows
    closed = partials(tree.edge_rate, traffic.keys_of(tree.group_by, rows))
    omegas = sum(omega_of(demand, float(tree.edge_rate)) for demand in tree.demands)
    return (_feed(tree, feeder, traffic) + finals(closed, omegas)) * traffic.ticks_per_second(rows)


def _feed(tree: Tree, feeder: Tree | None, traffic: Traffic) -> float:
    """Return what a tree pays per tick for its input."""
    rows = tree.windows.rows
    if feeder is not None and feeder.group_by != tree.group_by:
        return _roll_up_feed(tree, feeder, traffic) / traffic.ticks_per_second(rows)
    if feeder is not None and feeder.sharded:
        return 0.0  # the shards that it folds are counted in its feeder's k * beta
    if tree.shards is not None:
        return min(tree.shards.together, tree.shards.separately) / traffic.ticks_per_second(rows)
    if feeder is not None:
        return feed(partials(feeder.edge_rate, traffic.keys_of(tree.group_by, rows)), len(tree.demands))
    return feed(traffic.events_per_tick(rows), len(tree.demands))


def _roll_up_feed(tree: Tree, feeder: Tree, traffic: Traffic) -> float:
    """Return the operations per second to fold a finer grouping's partials: of every key and slice, or every shard."""
    if feeder.sharded and feeder.shards:
        columns = {(measure.component, measure.arguments) for measure in tree.measures}
        expanded = tree.shards.shards * tree.shards.beta * tree.shards.measures if tree.sharded and tree.shards else 0.0
        return feed(feeder.shards.shards, len(columns)) + expanded
    closed = partials(feeder.edge_rate, traffic.keys_of(feeder.group_by, rows=False)) * traffic.ticks_per_second(False)
    return feed(closed, len(tree.measures))


def omega_of(demand: Demand, rate: float) -> float:
    """Return the operations per edge of one measure of a tree; none where the tree only passes it on."""
    if not demand.technique:
        return 0.0
    return omega(demand.technique, Load.of_columns(demand.windows.range, demand.windows.slide), rate)
