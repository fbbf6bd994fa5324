"""What the engine does for a plan, counted before it does it; the engine counts the same things by the same names.

Every count is a function of the plan and of the stream: its rate, how many keys are active in a span of time, and how
long a batch is. `count_tree` counts one tree, `count_stream` what is done once for all trees.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from optimizer.algebra.techniques import BLOCK
from optimizer.plan.batches import Schedule, Step
from optimizer.plan.cost import omega_of
from optimizer.plan.definition import Demand, Measure, Traffic, Tree
from optimizer.windows.columns import FloatArray, IntArray, WindowSet

READ = "event.read"  # a value of an event, read or computed: a time, a key, an argument
TESTED = "event.tested"  # an event that is tested by a predicate
CELL = "event.cell"  # an event, or a finer grouping's slice, that is given its key and slice in a tree
PARTIAL = "partial"  # an event, or such a slice, folded into one measure of a tree
MADE = "slice.made"  # a slice, for one measure: made in a task and exchanged
LOADED = "slice.loaded"  # a retained slice, for one measure, that a batch loads
MERGED = "slice.merged"  # a slice, for one measure, loaded or exchanged, on its way into a tree's columns
SAVED = "slice.saved"  # a slice, for one measure, that a batch writes to the state
UNFOLDED = "slice.unfolded"  # a shard folded into the slices of one predicate's measure
LEVEL = "level"  # a slice of the feeder folded into one measure of a fed tree
TICK = "grid.tick"  # a tick of a key's grid that is laid out for one measure
DENSE = "window.dense"  # a window of one measure folded on a grid
BOUND = "window.bound"  # a window whose slices are looked up, where there is no grid
FOLDED = "window.folded"  # such a window folded for one measure
FOLDED_WIDE = "window.folded.wide"  # the same for moments, and for values that a selective measure carries
STEP = "slice.step"  # a slice that a technique of the papers takes, for one measure
STEP_ANSWER = "window.step"  # a window that such a technique answers
FINAL = "final."  # before a technique's name: a combine operation of it
ANSWER = "answer"  # a window of a query that ends with a value
ROW = "row"  # such a window that is written
ANSWERED = "query"  # a query answered in a batch

EVERYTHING = ("*",)
# components that no grid takes
WIDE = ("moments", "central_moments", "co_moments", "registers", "first", "last", "argmin", "argmax")
LONG, ROOMY = 1024, 2  # jobs/kernels/columns/grid.py: when a grid pays
PIECES = 16  # of the time before a stream's first full windows
MOST_SAMPLED = 64  # trees whose slices are looked at; beyond, all of a tree are taken to be equally long
SAMPLED = 1024  # slices


class Forest:
    """Trees of a plan, the stream they run on, and the batches that it comes in."""

    def __init__(self, trees: Sequence[Tree], traffic: Traffic, schedule: Schedule) -> None:
        self.trees = {tree.id: tree for tree in trees}
        self.traffic, self.schedule = traffic, schedule
        self._slices: dict[str, float] = {}

    def feeder(self, tree: Tree) -> Tree | None:
        """Return the tree that feeds a tree."""
        return self.trees.get(tree.feed)

    def root(self, tree: Tree) -> Tree:
        """Return the tree whose slices a level is folded from in the end; a tree that is no level is its own."""
        feeder = self.feeder(tree)
        return self.root(feeder) if feeder is not None and feeder.group_by == tree.group_by else tree

    @cached_property
    def levels(self) -> dict[str, list[Tree]]:
        """The trees that are folded from every root's slices."""
        levels: dict[str, list[Tree]] = defaultdict(list)
        for tree in self.trees.values():
            if (root := self.root(tree)) is not tree:
                levels[root.id].append(tree)
        return levels

    def ticks(self, tree: Tree) -> float:
        """Return the ticks per second of a tree's clock, by key where it counts rows."""
        if not tree.windows.rows:
            return float(self.traffic.ticks)
        return self.traffic.rate / self.traffic.active_keys(tree.group_by, math.inf)

    def steps(self, tree: Tree) -> Sequence[Step]:
        """Return the batches as a tree sees them."""
        return self._steps[self.root(tree).id]

    @cached_property
    def _steps(self) -> dict[str, list[Step]]:
        roots = [tree for tree in self.trees.values() if self.root(tree) is tree]
        steps = self.schedule.steps([self._reach(root) for root in roots])
        return {root.id: of_root for root, of_root in zip(roots, steps, strict=True)}

    def _reach(self, root: Tree) -> float:
        """Return the seconds that a root retains its slices: the longest range of its windows and of its levels'."""
        ranges = [float(t.windows.range.max(initial=0)) for t in (root, *self.levels[root.id]) if t.queries]
        return max(ranges, default=0.0) / self.ticks(root)

    def per_second(self, tree: Tree, seconds: float) -> float:
        """Return seconds that were added up over all batches as a share of the stream's; a run may have no events."""
        added = sum(step.added for step in self.steps(tree))
        return seconds / added if added else 0.0

    def slices(self, tree: Tree) -> float:
        """Return the slices that a tree has in a second of the stream; rows are slices of their own.

        A slice is there for a key that has an event in it: one that a query takes, where predicates share shards.
        """
        if tree.id not in self._slices:
            self._slices[tree.id] = self.traffic.rate if tree.windows.rows else self._slices_in_time(tree)
        return self._slices[tree.id]

    def _slices_in_time(self, tree: Tree) -> float:
        edges, root = float(tree.edge_rate) * self.traffic.ticks, self.root(tree)
        if not edges:
            return 0.0
        share = root.shards.events / self.traffic.rate if root.shards and root.sharded else 1.0
        lengths = np.array([1 / edges]) if len(self.trees) > MOST_SAMPLED else sample_slices(tree) / self.traffic.ticks
        return edges * float(self.traffic.active_keys_in(tree.group_by, share * lengths).mean())

    def made(self, root: Tree) -> float:
        """Return the slices, or shards, that a root makes in a second."""
        return root.shards.shards if root.sharded and root.shards else self.slices(root)


def sample_slices(tree: Tree) -> FloatArray:
    """Return the lengths of some slices of a tree, in ticks.

    >>> from fractions import Fraction
    >>> from optimizer.plan.definition import EVENTS
    >>> from optimizer.windows.window import Window
    >>> windows = WindowSet.of([Window(4, 4), Window(6, 6)])
    >>> sample_slices(Tree("t1", ("a",), windows, Fraction(1, 3), (), EVENTS, (), 0.0))[:5].tolist()
    [4.0, 2.0, 2.0, 4.0, 4.0]
    """
    edges, span = tree.edges(), round(SAMPLED / float(tree.edge_rate))
    places = np.unique(np.concatenate([np.arange(residue, span, period) for period, residue in edges]))
    return np.diff(places).astype(float) if len(places) > 1 else np.array([1 / float(tree.edge_rate)])


def folded_demands(tree: Tree) -> list[Demand]:
    """Return the measures that the engine folds: those of the plan, and for every predicate the events that pass it,
    since a window that holds none of these has no row.

    >>> from fractions import Fraction
    >>> from optimizer.plan.definition import EVENTS
    >>> from optimizer.windows.window import Window
    >>> windows = WindowSet.of([Window(10, 10)])
    >>> demand = Demand(Measure("sum", ("x",), "x > 1"), BLOCK, windows)
    >>> tree = Tree("t1", ("a",), windows, Fraction(1, 10), (demand,), EVENTS, (), 0.0)
    >>> [str(demand.measure) for demand in folded_demands(tree)]
    ['sum(x) where x > 1', 'count(*) where x > 1']
    """
    if tree.windows.rows:
        return list(tree.demands)
    by_where: dict[str, list[Demand]] = defaultdict(list)
    for demand in tree.demands:
        by_where[demand.measure.where].append(demand)
    passing = {where: Measure("count", EVERYTHING, where) for where in by_where if where}
    missing = {where: measure for where, measure in passing.items() if measure not in tree.measures}
    return [*tree.demands, *(_passing(measure, by_where[where]) for where, measure in missing.items())]


def _passing(measure: Measure, demands: Sequence[Demand]) -> Demand:
    answered = [demand for demand in demands if demand.technique]
    windows = sorted({window for demand in answered for window in demand.windows.tuples()})
    ranges, slides, offsets = np.array(windows, np.int64).reshape(-1, 3).T
    return Demand(measure, BLOCK if answered else "", WindowSet(ranges, slides, offsets))


def count_stream(forest: Forest) -> dict[str, float]:
    """Return what is done once for all trees, per second of the stream."""
    trees, rate = forest.trees.values(), forest.traffic.rate
    columns = {name for tree in trees for name in tree.group_by}
    measures = {measure for tree in trees for measure in tree.measures}
    arguments = {argument for measure in measures for argument in measure.arguments if measure.arguments != EVERYTHING}
    wheres = {measure.where for measure in measures} - {""}
    return {READ: rate * (1 + len(columns) + len(arguments)), TESTED: rate * len(wheres)}


def count_tree(tree: Tree, forest: Forest) -> dict[str, float]:
    """Return what is done for one tree, per second of the stream."""
    counts: dict[str, float] = defaultdict(float)
    for name, count in _root(tree, forest) if forest.root(tree) is tree else _level(tree, forest):
        counts[name] += count
    if tree.queries:
        for name, count in Answers(tree, forest).counts():
            counts[name] += count
    return {name: count for name, count in counts.items() if count}


def _level(tree: Tree, forest: Forest) -> Iterator[tuple[str, float]]:
    """Yield what it takes to fold a level: a slice of the feeder is folded in every batch that it takes part in."""
    feeder = forest.trees[tree.feed]
    spans = sum(step.span for step in forest.steps(tree) if step.answers)
    yield LEVEL, forest.slices(feeder) * forest.per_second(tree, spans) * len(folded_demands(tree))


def _root(tree: Tree, forest: Forest) -> Iterator[tuple[str, float]]:
    """Yield what it takes to make, keep and load the slices of a tree that is no level."""
    feeder, shards = forest.feeder(tree), tree.shards if tree.sharded else None
    demands = folded_demands(tree)
    own = {demand.measure for demand in demands if demand.technique}
    own |= {demand.measure for level in forest.levels[tree.id] for demand in folded_demands(level)}
    inputs = forest.traffic.rate if feeder is None else forest.made(feeder)
    if shards:
        held = len({(demand.measure.component, demand.measure.arguments) for demand in demands})
        folds = inputs * held
    else:
        held = len(own)
        folds = sum(
            inputs * (forest.traffic.share(demand.measure.where) if feeder is None else 1) for demand in demands
        )
    steps, made = forest.steps(tree), forest.made(tree)
    merged = [step.span for step in steps if step.answers]
    yield CELL, inputs
    yield PARTIAL, folds
    yield MADE, made * held
    yield LOADED, made * held * forest.per_second(tree, sum(step.loaded for step in steps))
    yield MERGED, made * held * forest.per_second(tree, sum(merged))
    yield SAVED, made * held * forest.per_second(tree, sum(step.saved for step in steps))
    if shards:
        spans = sum(step.span for step in steps if step.answers)
        more = len(own) / max(len({measure for measure in own if measure in tree.measures}), 1)
        yield UNFOLDED, shards.shards * shards.beta * shards.measures * more * forest.per_second(tree, spans)


class Answers:
    """What it takes to answer the windows of one tree from its slices."""

    def __init__(self, tree: Tree, forest: Forest) -> None:
        self.tree, self.forest = tree, forest
        self.ticks, self.slices = forest.ticks(tree), forest.slices(tree)
        self.steps = [step for step in forest.steps(tree) if step.answers]
        self.dense = [] if tree.windows.rows else [step for step in self.steps if self._pays(step)]

    def counts(self) -> Iterator[tuple[str, float]]:
        """Yield the counts, per second of the stream."""
        windows, queries = self.tree.windows, self.tree.askers
        yield ANSWER, float(self._ended(windows.range, windows.slide) @ queries)
        yield ROW, float(self._rows() @ queries)
        slides = windows.slide / self.ticks
        yield ANSWERED, self._per_second(sum(float(np.minimum(step.ends / slides, 1) @ queries) for step in self.steps))
        demands = [demand for demand in folded_demands(self.tree) if demand.technique]
        by_step = [demand for demand in demands if demand.technique != BLOCK]
        dense = [] if by_step else self.dense
        share = sum(step.ends for step in dense) / max(sum(step.ends for step in self.steps), 1e-300)
        for demand in by_step:
            yield from self._by_step(demand)
        blocks = [demand for demand in demands if demand.technique == BLOCK]
        for demand in blocks:
            wide = demand.measure.component in WIDE
            if dense and not wide:
                yield from self._on_grid(demand, dense)
            yield from self._by_bounds(demand, FOLDED_WIDE if wide else FOLDED, 1.0 if wide else 1 - share)
        wide = any(demand.measure.component in WIDE for demand in blocks)
        yield BOUND, float(self._ended(windows.range, windows.slide).sum()) * (1.0 if wide or by_step else 1 - share)

    def _per_second(self, total: float) -> float:
        return self.forest.per_second(self.tree, total)

    def _ended(self, ranges: IntArray | FloatArray, slides: IntArray, share: float = 1.0) -> FloatArray:
        """Return how many windows end in a second, with an event of their key, if so many of the events count."""
        ended: FloatArray = self._holding(np.asarray(share * ranges / self.ticks, float)) / (slides / self.ticks)
        return ended

    def _rows(self) -> FloatArray:
        """Return how many windows are written in a second: those in which an event passes the query's predicate."""
        windows = self.tree.windows
        place = {window: number for number, window in enumerate(windows.tuples())}
        total, demands = np.zeros(len(windows)), np.zeros(len(windows))
        for demand in self.tree.demands:
            at = np.array([place[window] for window in demand.windows.tuples()], np.int64)
            share = self.forest.traffic.share(demand.measure.where)
            total[at] += self._ended(demand.windows.range, demand.windows.slide, share)
            demands[at] += 1
        return total / np.maximum(demands, 1)

    def _holding(self, seconds: FloatArray) -> FloatArray:
        """Return the keys that have an event in a window, on average over those that end; the first windows of a run
        are cut off where the stream begins."""
        group_by, schedule = self.tree.group_by, self.forest.schedule
        full = self.forest.traffic.active_keys_in(group_by, seconds)
        length = schedule.batch * schedule.batches
        if not math.isfinite(length):
            return full
        short = np.minimum(seconds, length)
        parts = short[:, None] * (np.arange(PIECES) + 0.5) / PIECES
        rising = self.forest.traffic.active_keys_in(group_by, parts.reshape(-1)).reshape(parts.shape).mean(axis=1)
        holding: FloatArray = (rising * short + full * (length - short)) / length
        return holding

    @cached_property
    def _unit(self) -> float:
        """The seconds of a tick of the grid."""
        windows = self.tree.windows
        lengths = np.concatenate([windows.range, windows.slide, windows.offset - windows.offset[:1]])
        return float(np.gcd.reduce(lengths)) / self.ticks

    def _pays(self, step: Step) -> bool:
        """Say whether a batch lays out its slices on a grid, as jobs/kernels/columns/grid.py decides it."""
        if step.span < (LONG - 1) * self._unit or 2 * step.ends < step.span:
            return False
        groups, windows = self._groups(step), self.tree.windows
        gap = self.forest.traffic.longest_gap(self.tree.group_by, step.span)
        long = windows.slide[windows.range / self.ticks >= gap] / self.ticks
        certain = float((step.ends / long).sum()) * groups
        return self._grid_ticks(step) * groups <= ROOMY * self.slices * step.span + certain

    def _groups(self, step: Step) -> float:
        return self.forest.traffic.active_keys(self.tree.group_by, step.span)

    def _grid_ticks(self, step: Step) -> float:
        """Return the ticks of a key's grid: those of its slices, and those that windows at its ends reach."""
        windows = self.tree.windows
        margin = float(windows.slide.max(initial=0)) / self.ticks
        finest = windows.range[windows.slide <= self._unit * self.ticks * (1 + 1e-9)] / self.ticks
        return (step.span + margin + max(margin, float(finest.max(initial=0.0)))) / self._unit

    def _on_grid(self, demand: Demand, dense: Sequence[Step]) -> Iterator[tuple[str, float]]:
        per_key = float((self.ticks / demand.windows.slide).sum())
        yield TICK, self._per_second(sum(self._grid_ticks(step) * self._groups(step) for step in dense))
        yield DENSE, self._per_second(sum(per_key * step.ends * self._groups(step) for step in dense))

    def _by_bounds(self, demand: Demand, name: str, share: float) -> Iterator[tuple[str, float]]:
        """Yield the folds of windows whose slices are looked up, and the operations of two stacks that flip once per
        block: a flip joins the slices of a window, every other window the new slices and both stacks."""
        windows = demand.windows
        ended = self._ended(windows.range, windows.slide)
        cycle = np.ceil(windows.range / windows.slide)
        held = np.maximum(self.slices * windows.range / windows.slide / np.maximum(ended, 1e-300), 1.0)
        fresh = held * windows.slide / windows.range
        in_step = np.array([step.ends for step in self.steps])[:, None] / (windows.slide / self.ticks)
        flips = np.maximum(in_step / cycle, np.minimum(in_step, 1)).sum(axis=0) / in_step.sum(axis=0)  # per window
        joins = flips * (held - 1) + (1 - flips) * (fresh + 1 - 1 / held)
        yield name, share * float(ended.sum())
        yield f"{FINAL}{BLOCK}", share * float(ended @ joins)

    def _by_step(self, demand: Demand) -> Iterator[tuple[str, float]]:
        """Yield the work of a technique of the papers, which takes every slice that a window may hold."""
        slices = self.slices * self._per_second(sum(step.until - step.low for step in self.steps))
        yield f"{FINAL}{demand.technique}", slices * omega_of(demand, float(self.tree.edge_rate))
        yield STEP, slices
        yield STEP_ANSWER, float(self._ended(demand.windows.range, demand.windows.slide).sum())
