"""What a plan has to do, and what that takes: operations, and the price of each in seconds, fitted from runs.

The papers count every slice that ends, filled or not, and nothing but folds. What the engine does is counted in
counts.py; `Operations.priced` names all of it: operations, slices, answers, trees, batches and runs. Every technique
has its own price.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from optimizer.cost.tree_cost import Currency
from optimizer.errors import HeddleError
from optimizer.plan.batches import STEADY, Schedule
from optimizer.plan.counters import (
    CELL,
    EVENT,
    FINAL,
    LEVEL,
    MADE,
    MERGED,
    PARTIAL,
    ROW,
    ROW_MERGED,
    SAVED,
    SLICE,
    STEPS,
    counters_of,
    typical_seconds,
)
from optimizer.plan.counts import RESULT_FILES, count_stream, count_tree
from optimizer.plan.definition import Demand, Plan, Traffic, Tree, omega_of, tree_cost
from optimizer.plan.forest import Forest

Floats = NDArray[np.float64]
PULL = 1e-3  # towards one price for all operations and none for the rest, where the runs cannot tell prices apart
ROUNDS = 200
PULL_OF_STEP = 0.1  # towards the prices of a typical machine, where a step's runs cannot tell prices apart
LEAST = 0.25  # of a typical price: nothing is free


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
        """Return everything that has a price, by its name, in a run of so many batches; none is an endless run.

        The papers' operations stand for what the engine does only where that was not counted: a grid joins no slices.

        >>> Operations(2.0, {"daba": 3.0}).priced()["final.daba"]
        3.0
        >>> Operations(2.0, {"daba": 3.0}, {"event": 1.0}).priced()["final.daba"]
        0.0
        """
        papers = {PARTIAL: self.partials, **{f"{FINAL}{name}": count for name, count in self.finals.items()}}
        counts = {**(dict.fromkeys(papers, 0.0) if EVENT in self.handled else papers), **self.handled}
        steps = batches + (batches > 1)  # several batches of a run are followed by a closing
        tasks = steps * self.buckets
        fixed = {"tree": self.trees * tasks, "root": self.roots * tasks, "batch": tasks, "run": min(batches, 1.0)}
        return {**counts, **fixed}


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


@dataclass(frozen=True)
class Measured:
    """What a plan had to do in a run by its cost model, and how long that took."""

    operations: Operations
    seconds: float
    batches: float = 1.0
    steps: Mapping[str, float] = field(default_factory=dict)  # the seconds of every step, where they are known


@dataclass(frozen=True)
class Prices:
    """Seconds of everything that Operations.priced names; none is negative."""

    each: Mapping[str, float]
    error: float = 0.0  # mean of the relative errors over the runs it was fitted from
    schedule: Schedule = STEADY  # the batches that plans are priced for

    @property
    def techniques(self) -> list[str]:
        """Those whose operations have a price."""
        return [name.removeprefix(FINAL) for name in self.each if name.startswith(FINAL)]

    def for_run(self, events: int, rate: float, batches: float = 1.0) -> Prices:
        """Return the same prices, to plan for one run over so many events instead of for an endless stream.

        >>> Prices({}).for_run(events=6000, rate=10.0, batches=2).schedule
        Schedule(batch=300.0, batches=2, buckets=1)
        """
        return replace(self, schedule=Schedule(max(events, 1) / rate / batches, batches))

    def knows(self, operations: Operations) -> bool:
        """Return whether the operations of all its techniques have a price."""
        return operations.finals.keys() <= set(self.techniques)

    def currency(self, traffic: Traffic, group_by: tuple[str, ...], rows: bool) -> Currency:
        """Return these prices as a search counts them: per tick of a group's clock and per key."""
        batch_seconds = self.schedule.batch
        keys, ticks = traffic.keys_of(group_by, rows), traffic.ticks_per_second(rows)
        retained = self.each.get(MERGED, 0.0) + self.each.get(SAVED, 0.0)
        return Currency(
            event=self.each.get(CELL, 0.0),
            fold=self.each.get(PARTIAL, 0.0),
            slice=self.each.get(SLICE, 0.0) + self.each.get(MADE, 0.0) + retained,
            level=self.each.get(LEVEL, 0.0),
            tree=self.each.get("tree", 0.0) / (batch_seconds * ticks * keys),
            root=self.each.get("root", 0.0) / (batch_seconds * ticks * keys),
            final={name: self.each[f"{FINAL}{name}"] for name in self.techniques},
            events=traffic.events_per_tick(rows) / keys,
        )

    def seconds(self, operations: Operations, batches: float = 1.0) -> float:
        """Return how long so many operations should take."""
        return sum(self.each.get(name, 0.0) * count for name, count in operations.priced(batches).items())


def estimate_milliseconds(plan: Plan, prices: Prices | None) -> float | None:
    """Return the CPU milliseconds per 1,000 events that a plan should take; None where prices are not known."""
    operations = operations_of(plan)
    if prices is None or not prices.knows(operations):
        return plan.milliseconds_per_thousand
    return prices.seconds(operations, batches=1 / STEADY.batch) / plan.rate * 1e6


def tree_shares(plan: Plan, prices: Prices | None) -> dict[str, float]:
    """Return every tree's share of a plan's cost: of its seconds where prices are known, else of its operations."""
    if prices is None:
        costs = {tree.id: tree.cost for tree in plan.trees}
    else:
        counts = counts_by_tree(plan.trees, plan.traffic, STEADY)
        costs = {
            tree.id: sum(prices.each.get(name, 0.0) * count for name, count in counts[tree.id].items())
            for tree in plan.trees
        }
    total = sum(costs.values())
    return {tree: cost / total if total else 0.0 for tree, cost in costs.items()}


def fit_steps(runs: Sequence[Measured]) -> Prices:
    """Fit the seconds of every step to what is done in it, so that no step's work stands for another's.

    What the runs cannot tell apart is priced as on a typical machine; errors are relative to the whole run's seconds.
    """
    each: dict[str, float] = {}
    counts = [_count_priced(run) for run in runs]
    names = {name for run in counts for name, count in run.items() if count}
    for step in STEPS:
        priced = counters_of(step, names)
        table = np.array([[run.get(name, 0.0) for name in priced] for run in counts])
        seconds = np.array([run.steps.get(step, 0.0) for run in runs])
        for name, price in zip(priced, _fit_step(table, seconds, [run.seconds for run in runs], priced), strict=True):
            each[name] = each.get(name, 0.0) + float(price)
    errors = [abs(Prices(each).seconds(run.operations, run.batches) / run.seconds - 1) for run in runs]
    return Prices(each, float(np.mean(errors)))


def _fit_step(table: Floats, seconds: Floats, whole: Sequence[float], names: Sequence[str]) -> Floats:
    """Return the prices of one step: least squares over x >= 0, pulled a little towards a typical machine's, which are
    those of a machine as fast as this one."""
    typical = np.array([typical_seconds(name) for name in names])
    expected = table @ typical
    if (expected > 0).any():
        typical *= np.median(seconds[expected > 0] / expected[expected > 0])
    weight = 1 / np.array(whole)
    scaled = table * typical * weight[:, None]
    pull = PULL_OF_STEP * np.eye(len(names))
    design, target = np.vstack([scaled, pull]), np.concatenate([seconds * weight, np.diag(pull)])
    least = np.full(len(names), LEAST)
    prices: Floats = (least + _nonnegative(design, target - design @ least)) * typical
    return prices


def fit_prices(runs: Sequence[Measured]) -> Prices:
    """Least squares of the relative errors with no price below 0."""
    if not runs:
        raise HeddleError("there are no runs to calibrate from; evaluate a plan first")
    priced = [_count_priced(run) for run in runs]
    names = sorted({name for counts in priced for name in counts})
    table = np.array([[counts.get(name, 0.0) for name in names] for counts in priced])
    table /= np.array([[run.seconds] for run in runs])
    one_price = 1.0 / float(np.median([run.operations.total / run.seconds for run in runs]))
    counted = np.array([name == "partial" or name.startswith(FINAL) for name in names])
    guess = np.where(counted, one_price, 0.0)
    most = table.max(axis=0)
    scale = np.where(most > 0, most, 1.0)
    pull = np.diag(np.where(counted, PULL / one_price, PULL * scale))
    design, target = np.vstack([table, pull]), np.concatenate([np.ones(len(runs)), pull @ guess])
    prices = _nonnegative(design / scale, target) / scale
    error = float(np.mean(np.abs(table @ prices - 1)))
    return Prices(dict(zip(names, map(float, prices), strict=True)), error)


def _count_priced(run: Measured) -> dict[str, float]:
    if not run.seconds > 0 or not run.operations.total > 0:
        raise HeddleError(f"a run of {run.seconds} seconds and {run.operations.total:g} operations tells no prices")
    return run.operations.priced(run.batches)


def _nonnegative(design: Floats, target: Floats) -> Floats:
    """Least squares over x >= 0 by active sets (Lawson and Hanson, 1974, chapter 23)."""
    size = design.shape[1]
    x, free = np.zeros(size), np.zeros(size, dtype=np.bool_)
    for _ in range(ROUNDS):
        slope = design.T @ (target - design @ x)
        if free.all() or slope[~free].max() <= 1e-12 * np.abs(target).sum():
            break
        free[np.argmax(np.where(free, -np.inf, slope))] = True
        x = _inside(design, target, x, free)
    return x


def _inside(design: Floats, target: Floats, x: Floats, free: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    """Return the best point of the free coordinates, less those that would leave the positive side on the way there."""
    while free.any():
        best = np.zeros_like(x)
        best[free] = np.linalg.lstsq(design[:, free], target, rcond=None)[0]
        if (best[free] > 0).all():
            return best
        falling = free & (best <= 0)
        step = np.min(x[falling] / (x[falling] - best[falling]))
        x = x + step * (best - x)
        free &= x > 1e-15
    return x
