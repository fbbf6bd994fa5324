"""What a plan has to do: the papers' operations, and what the engine does for them, which has a price in seconds.

The papers count every slice that ends, filled or not, and nothing but folds. The engine makes a slice only for keys
that have an event in it, gives every event its slice once per tree that reads events, retains slices between batches
and reads them again, and makes and writes answers. `Operations.priced` names all of it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from optimizer.algebra.techniques import BLOCK
from optimizer.plan.cost import omega_of, tree_cost
from optimizer.plan.definition import Demand, Plan, Traffic, Tree

FINAL = "final."  # before a technique's name
PARTIAL = "partial"  # an event folded into one measure of a tree that reads events
CELL = "event.cell"  # an event that is given its key and slice in such a tree
MADE = "slice.made"  # a slice of such a tree, for one measure: made, exchanged and merged
RETAINED = "slice.retained"  # a slice that a batch loads and keeps, for one measure
LEVEL = "level"  # a slice of the feeder folded into one measure of a fed tree
SCANNED = "slice.scanned"  # a retained slice that an answer of a later batch reads again, in columns
ENDLESS = math.inf  # the seconds of a batch that holds the whole stream


@dataclass(frozen=True)
class Operations:
    """Operations of a second of a plan, or of a whole run."""

    partials: float  # the papers' operations to feed all trees
    finals: Mapping[str, float] = field(default_factory=dict)  # the papers' operations of all answers, by technique
    handled: Mapping[str, float] = field(default_factory=dict)  # what the engine does, by the name that has a price
    trees: int = 0  # in every batch

    @property
    def total(self) -> float:
        """The papers' operations: what a plan's cost counts."""
        return self.partials + sum(self.finals.values())

    def times(self, factor: float) -> Operations:
        """Return the operations of a stream that is longer by this factor."""
        finals, handled = ({name: count * factor for name, count in d.items()} for d in (self.finals, self.handled))
        return replace(self, partials=self.partials * factor, finals=finals, handled=handled)

    def priced(self, batches: float = 1.0) -> dict[str, float]:
        """Return everything that has a price, by its name, in a run of so many batches; none is an endless run."""
        papers = {PARTIAL: self.partials, **{f"{FINAL}{name}": count for name, count in self.finals.items()}}
        fixed = {"tree": self.trees * batches, "batch": batches, "run": min(batches, 1.0)}
        return {**papers, **self.handled, **fixed}


def operations_of(plan: Plan, batch_seconds: float = ENDLESS) -> Operations:
    """Return what a plan does in a second at its rate, in batches of so many seconds; the total is its cost."""
    return count_operations(plan.trees, plan.traffic, batch_seconds)


def count_operations(forest: Sequence[Tree], traffic: Traffic, batch_seconds: float = ENDLESS) -> Operations:
    """Return what trees do in a second of a stream's traffic."""
    trees = {tree.id: tree for tree in forest}
    total = sum(tree_cost(tree, trees.get(tree.feed), traffic) for tree in forest)
    finals: dict[str, float] = defaultdict(float)
    counts: dict[str, float] = defaultdict(float)
    for tree in forest:
        for name, count in _inputs(tree, trees, traffic, batch_seconds):
            counts[name] += count
        for demand in tree.demands:
            if demand.technique:
                finals[demand.technique] += _paper_finals(tree, demand, traffic)
                for name, count in _answers(tree, demand, traffic, batch_seconds):
                    counts[name] += count
    return Operations(max(total - sum(finals.values()), 0.0), dict(finals), dict(counts), len(forest))


def operations_for(plan: Plan, events: int, batches: float = 1.0) -> Operations:
    """Return what a plan does for so many events that come in so many batches."""
    seconds = events / plan.rate
    return operations_of(plan, seconds / batches if batches > 1 else ENDLESS).times(seconds)


def filled_slices(edges: float, keys: float, events: float) -> float:
    """Return the slices per second that hold an event, when keys take their turn at random.

    >>> round(filled_slices(edges=0.1, keys=50, events=1000), 3)  # ten seconds bring every key some event
    5.0
    >>> round(filled_slices(edges=1000, keys=50, events=100), 1)  # hardly two events ever share a slice
    99.9
    """
    cells = edges * keys
    return -cells * math.expm1(-events / cells) if cells else 0.0


def slices_of(tree: Tree, traffic: Traffic) -> float:
    """Return the slices that a tree makes in a second; rows are slices of their own."""
    if tree.windows.rows:
        return traffic.rate
    edges = float(tree.edge_rate) * traffic.ticks_per_second(False)
    return filled_slices(edges, traffic.keys_of(tree.group_by, False), traffic.rate)


def _inputs(
    tree: Tree, trees: Mapping[str, Tree], traffic: Traffic, batch_seconds: float
) -> Iterator[tuple[str, float]]:
    """Yield what it takes to make a tree's slices."""
    feeder = trees.get(tree.feed)
    if feeder is not None and feeder.group_by == tree.group_by:
        yield LEVEL, slices_of(feeder, traffic) * len(tree.demands)
        return
    measures, made = len(tree.demands), slices_of(tree, traffic)
    events = traffic.rate if feeder is None else slices_of(feeder, traffic)
    folds = events * measures
    if tree.shards is not None:
        folds = min(tree.shards.together, tree.shards.separately)
        measures, made = (tree.shards.measures, tree.shards.shards) if tree.sharded else (measures, made)
    yield CELL, events
    yield PARTIAL, folds
    yield MADE, made * measures
    yield RETAINED, made * measures * _reach(tree, trees, traffic) / batch_seconds


def _reach(tree: Tree, trees: Mapping[str, Tree], traffic: Traffic) -> float:
    """Return the seconds that a tree retains its slices: the longest range of its own windows and those it feeds."""
    own = (
        float(tree.windows.range.max(initial=0)) / traffic.ticks_per_second(tree.windows.rows) if tree.queries else 0.0
    )
    return max([own, *(_reach(fed, trees, traffic) for fed in trees.values() if fed.feed == tree.id)])


def _paper_finals(tree: Tree, demand: Demand, traffic: Traffic) -> float:
    rows, rate = tree.windows.rows, float(tree.edge_rate)
    scale = traffic.keys_of(tree.group_by, rows) * traffic.ticks_per_second(rows)
    return scale * rate * omega_of(demand, rate)


def _answers(tree: Tree, demand: Demand, traffic: Traffic, batch_seconds: float) -> Iterator[tuple[str, float]]:
    """Yield what it takes to answer one measure's windows from a tree's slices."""
    rows, rate = tree.windows.rows, float(tree.edge_rate)
    ticks, keys = traffic.ticks_per_second(rows), traffic.keys_of(tree.group_by, rows)
    slices, windows = slices_of(tree, traffic), demand.windows
    how = "columns" if demand.technique == BLOCK else "steps"
    seconds = windows.range / ticks
    holding = keys * -np.expm1(-traffic.rate * seconds / keys)  # keys that have an event in the window
    yield f"{FINAL}{demand.technique}", slices * omega_of(demand, rate)
    yield f"slice.{how}", slices
    yield f"answer.{how}", float((holding * ticks / windows.slide).sum())
    yield SCANNED, slices * float(seconds.sum()) / batch_seconds
