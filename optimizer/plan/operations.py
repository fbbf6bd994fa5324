"""What a plan has to do: the papers' operations, and what the engine does for them, which has a price in seconds.

The papers count every slice that ends, filled or not, and nothing but folds. What the engine does is counted in
counts.py; `Operations.priced` names all of it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from optimizer.plan.batches import STEADY, Schedule
from optimizer.plan.counts import FINAL, PARTIAL, RESULT_FILES, ROW, ROW_MERGED, count_stream, count_tree
from optimizer.plan.definition import Demand, Plan, Traffic, Tree, omega_of, tree_cost
from optimizer.plan.forest import Forest


@dataclass(frozen=True)
class Operations:
    """Operations of a second of a plan, or of a whole run."""

    partials: float  # the papers' operations to feed all trees
    finals: Mapping[str, float] = field(default_factory=dict)  # the papers' operations of all answers, by technique
    handled: Mapping[str, float] = field(default_factory=dict)  # what the engine does, by the name that has a price
    trees: int = 0  # in every batch
    roots: int = 0  # of them, those that are no levels
    buckets: float = 1.0  # tasks that do the fixed work of a batch

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
        steps = batches + (batches > 1)  # several batches of a run are followed by a closing
        tasks = steps * self.buckets
        fixed = {"tree": self.trees * tasks, "root": self.roots * tasks, "batch": tasks, "run": min(batches, 1.0)}
        return {**papers, **self.handled, **fixed}


def operations_of(plan: Plan, schedule: Schedule = STEADY) -> Operations:
    """Return what a plan does in a second at its rate; the total is its cost."""
    return count_operations(plan.trees, plan.traffic, schedule)


def count_operations(forest: Sequence[Tree], traffic: Traffic, schedule: Schedule = STEADY) -> Operations:
    """Return what trees do in a second of a stream's traffic."""
    trees = {tree.id: tree for tree in forest}
    total = sum(tree_cost(tree, trees.get(tree.feed), traffic) for tree in forest)
    finals: dict[str, float] = defaultdict(float)
    for tree in forest:
        for demand in tree.demands:
            if demand.technique:
                finals[demand.technique] += _paper_finals(tree, demand, traffic)
    handled: dict[str, float] = defaultdict(float)
    for counts in counts_by_tree(forest, traffic, schedule).values():
        for name, count in counts.items():
            handled[name] += count
    partials = max(total - sum(finals.values()), 0.0)
    return Operations(partials, dict(finals), dict(handled), len(forest), count_roots(forest), schedule.buckets)


def count_roots(forest: Sequence[Tree]) -> int:
    """Return how many trees are no levels of another tree of their grouping."""
    grouping = {tree.id: tree.group_by for tree in forest}
    return sum(grouping.get(tree.feed) != tree.group_by for tree in forest)


def counts_by_tree(trees: Sequence[Tree], traffic: Traffic, schedule: Schedule) -> dict[str, dict[str, float]]:
    """Return what the engine does for every tree in a second of the stream, and under "" what it does for all."""
    forest = Forest(trees, traffic, schedule)
    of_trees = {tree.id: count_tree(tree, forest) for tree in trees}
    merged = sum(counts.get(ROW, 0.0) for counts in of_trees.values()) * schedule.merges(RESULT_FILES, math.inf)
    return {"": {**count_stream(forest), ROW_MERGED: merged}, **of_trees}


def schedule_for(plan: Plan, events: int, batches: float, buckets: int = 1) -> Schedule:
    """Return the batches of a run that takes so many events."""
    return Schedule(events / plan.rate / batches, batches, buckets)


def operations_for(plan: Plan, events: int, batches: float = 1.0, buckets: int = 1) -> Operations:
    """Return what a plan does for so many events that come in one run of so many batches."""
    return operations_of(plan, schedule_for(plan, events, batches, buckets)).times(events / plan.rate)


def _paper_finals(tree: Tree, demand: Demand, traffic: Traffic) -> float:
    rows, rate = tree.windows.rows, float(tree.edge_rate)
    scale = traffic.keys_of(tree.group_by, rows) * traffic.ticks_per_second(rows)
    return scale * rate * omega_of(demand, rate)
