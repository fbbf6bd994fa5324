"""Trees of a plan on their stream: which are levels of which, what they have in a second, what their batches handle."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from optimizer.plan.batches import Handled, Schedule, handle_batches
from optimizer.plan.definition import Traffic, Tree
from optimizer.plan.levels import Level, level_of, retained_levels
from optimizer.windows.window import FloatArray, Window

MOST_SAMPLED = 64  # trees whose slices are looked at; beyond, all of a tree are taken to be equally long
SAMPLED = 1024  # slices
MOST_LIKELY = 1e6  # signatures
WAVES = 256


class Forest:
    """Trees of a plan, the stream they run on, and the batches that it comes in."""

    def __init__(self, trees: Sequence[Tree], traffic: Traffic, schedule: Schedule) -> None:
        self.trees = {tree.id: tree for tree in trees}
        self.traffic, self.schedule = traffic, schedule
        self._slices: dict[str, float] = {}
        self._lengths: dict[str, FloatArray] = {}  # of some slices, in ticks
        self._columns: dict[tuple[str, int], tuple[FloatArray, FloatArray]] = {}

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

    @cached_property
    def types(self) -> dict[tuple[str, ...], int]:
        """How many types the answers of every grouping have."""
        by_grouping: dict[tuple[str, ...], list[Tree]] = defaultdict(list)
        for tree in self.trees.values():
            by_grouping[tree.group_by].append(tree)
        return {group_by: count_types(trees) for group_by, trees in by_grouping.items()}

    def ticks(self, tree: Tree) -> float:
        """Return the ticks per second of a tree's clock, by key where it counts rows."""
        if not tree.windows.rows:
            return float(self.traffic.ticks)
        return self.traffic.rate / self.traffic.active_keys(tree.group_by, math.inf)

    def buckets(self, tree: Tree) -> float:
        """Return how many tasks of a batch answer windows of a tree: those whose bucket has a key of it."""
        return self.schedule.buckets_of(max(self.traffic.active_keys(tree.group_by, self.schedule.batch), 1.0))

    def batches(self, tree: Tree) -> Sequence[Handled]:
        """Return what batches do with the slices and chunks that a tree reads."""
        return self._batches[self.root(tree).id]

    @cached_property
    def _batches(self) -> dict[str, list[Handled]]:
        roots = [tree for tree in self.trees.values() if self.root(tree) is tree]
        windows = {root.id: self._windows(root) for root in roots}
        self._levels = {root.id: retained_levels(root.cuts(), windows[root.id]) for root in roots}
        reaches = [max(w.range for w in windows[root.id]) / self.ticks(root) for root in roots if windows[root.id]]
        steps = self.schedule.steps(max(reaches, default=0.0))
        handled = {}
        for root in roots:
            levels = self._levels[root.id]
            columns = [(w.range, w.slide, w.offset, level_of(levels, w)) for w in windows[root.id]]
            table = np.array(columns, np.int64).reshape(-1, 4).T
            handled[root.id] = handle_batches(levels, table, steps, self.ticks(root))
        return handled

    def _windows(self, root: Tree) -> list[Window]:
        """Return the windows that are answered from a root's slices: its own, and those of its levels."""
        trees = [tree for tree in (root, *self.levels[root.id]) if tree.queries]
        return sorted({window for tree in trees for window in tree.windows})

    def per_second(self, tree: Tree, values: Iterable[float]) -> float:
        """Turn an amount per batch into an amount per second of the stream; 0 where the run has no events."""
        steps = [batch.step for batch in self.batches(tree)]
        added = sum(step.added * step.weight for step in steps)
        return sum(v * step.weight for v, step in zip(values, steps, strict=True)) / added if added else 0.0

    def rates(self, tree: Tree) -> FloatArray:
        """Return the columns of a tree that begin in a tick of every level: its slices, or chunks where these are
        longer."""
        root = self.root(tree)
        chunks = [self._chunks(root, number) for number in range(1, len(self.levels_of(root)))]
        return np.minimum([np.inf, *chunks], self.slices(tree) / self.ticks(tree))

    def columns_until(self, tree: Tree, batch: Handled) -> tuple[FloatArray, FloatArray]:
        """Return times in order, and how many columns of a tree that a batch reads begin before each of them: slices
        and chunks, or what they are combined to."""
        known = self._columns.get((tree.id, id(batch)))
        if known is None:
            known = self._columns[tree.id, id(batch)] = self._combine(tree, batch)
        return known

    def _combine(self, tree: Tree, batch: Handled) -> tuple[FloatArray, FloatArray]:
        rates, seconds = self.rates(tree), float(self.ticks(tree))
        bounds = batch.bounds(self.rates(self.root(tree)))
        if bounds is None or not len(batch.spans):
            return batch.rows_until(rates)
        times = np.union1d(bounds[(bounds > batch.low) & (bounds < batch.high)], [batch.low, batch.high]).astype(float)
        plain, rows = batch.rows_until(rates)
        active = self.traffic.active_keys_in(tree.group_by, np.diff(times) / seconds * self.share(tree))
        fewer = np.minimum(active, np.diff(np.interp(times, plain, rows)))
        return times, np.concatenate([[0.0], np.cumsum(fewer)])

    def columns(self, tree: Tree, batch: Handled) -> float:
        """Return how many columns of a tree a batch reads."""
        return float(self.columns_until(tree, batch)[1][-1]) if len(batch.spans) else 0.0

    def kept_rates(self, root: Tree) -> FloatArray:
        """Return what is kept of a root: shards of its slices and chunks where predicates share them."""
        chunks = [
            self._chunks(root, number) * self._signatures(root, self._seconds(root, number))
            for number in range(1, len(self.levels_of(root)))
        ]
        return np.array([self.slices_or_shards(root) / self.ticks(root), *chunks])

    def levels_of(self, root: Tree) -> tuple[Level, ...]:
        """Return the levels that a root retains."""
        self.batches(root)
        return self._levels[root.id]

    def _seconds(self, root: Tree, number: int) -> float:
        return self.levels_of(root)[number].edges[0][0] / self.ticks(root)

    def _chunks(self, root: Tree, number: int) -> float:
        """Return the chunks of a level that begin in a tick."""
        seconds = self._seconds(root, number)
        return self.traffic.active_keys(root.group_by, seconds * self.share(root)) / (seconds * self.ticks(root))

    def _signatures(self, root: Tree, seconds: float) -> float:
        """Return how many signatures the events of a key have in so many seconds: as many as some equally likely ones
        would, of which the slices tell how many there are."""
        if not root.sharded or root.shards is None:
            return 1.0
        slices = self.slices(root)
        in_slice, events = root.shards.shards / slices, root.shards.events / slices
        likely = equally_likely(in_slice, events)
        keys = self.traffic.active_keys(root.group_by, seconds * self.share(root))
        return -likely * math.expm1(-root.shards.events * seconds / keys / likely)

    def keys_and_signatures(self, root: Tree) -> float:
        """Return what the cells of a slice may belong to in a batch: keys, with signatures where predicates share
        shards."""
        keys = self.traffic.active_keys(root.group_by, self.schedule.batch * self.share(root))
        return max(1.0, keys * self._signatures(root, self.schedule.batch))

    def possible_cells(self, root: Tree) -> float:
        """Return the cells that the events of a batch might fall into: of every key in every slice."""
        return float(root.edge_rate) * self.ticks(root) * self.schedule.batch * self.keys_and_signatures(root)

    def share(self, tree: Tree) -> float:
        """Return the part of the events that some query takes, where predicates share the shards of a tree's root."""
        root = self.root(tree)
        return root.shards.events / self.traffic.rate if root.shards and root.sharded else 1.0

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
        return edges * self.keys_in_slice(tree, self.share(root))

    def keys_in_slice(self, tree: Tree, share: float) -> float:
        """Return how many keys have an event in a slice, on average, if so many of the events count."""
        seconds = share * self._slice_lengths(tree) / self.traffic.ticks
        return float(self.traffic.active_keys_in(tree.group_by, seconds).mean())

    def ragged(self, tree: Tree, slides: FloatArray) -> FloatArray:
        """Return the share of the windows of some slides, in ticks, that do not follow the one before them as that one
        did: events are missing in some of the slices, and slices are not equally long."""
        keys = self.traffic.active_keys(tree.group_by, math.inf)
        seconds = self.share(tree) * self._slice_lengths(tree) / self.traffic.ticks
        occupied = np.minimum(self.traffic.active_keys_in(tree.group_by, seconds) / keys, 1.0)
        slides, places = np.unique(slides, return_inverse=True)
        by_chance = ragged_share(slides * float(tree.edge_rate), float((occupied * (1 - occupied)).mean()))
        ends = np.cumsum(self._slice_lengths(tree))
        shares: FloatArray = 1 - (1 - by_chance) * (1 - uneven_share(ends, slides)) ** 2
        return shares[places]

    def _slice_lengths(self, tree: Tree) -> FloatArray:
        if tree.id not in self._lengths:
            by_rate = np.array([1 / float(tree.edge_rate)])
            self._lengths[tree.id] = by_rate if len(self.trees) > MOST_SAMPLED else sample_slices(tree)
        return self._lengths[tree.id]

    def slices_or_shards(self, root: Tree) -> float:
        """Return the slices, or shards, that a root makes in a second."""
        return root.shards.shards if root.sharded and root.shards else self.slices(root)


def ragged_share(slots: FloatArray, variance: float) -> FloatArray:
    """Return how often one of two numbers of slices, those that a window loses and those that it gains, differs from
    the one before it, if each has so many slots, which hold a slice at random with this variance.

    >>> ragged_share(np.array([1.0, 20.0]), 0.25).round(2).tolist(), ragged_share(np.array([1.0, 20.0]), 0.0).tolist()
    ([0.75, 0.98], [0.0, 0.0])
    """
    waves = (np.arange(WAVES) + 0.5) * math.pi / WAVES
    equal = np.power(1 - 2 * variance * (1 - np.cos(waves)), slots[:, None]).mean(axis=1)  # by Parseval's theorem
    share: FloatArray = 1 - equal**2
    return share


def uneven_share(ends: FloatArray, slides: FloatArray) -> FloatArray:
    """Return how often the number of slices that end within a slide differs from that of the slide before.

    >>> ends = np.cumsum([2.0, 3.0] * 100)
    >>> uneven_share(ends, np.array([5.0, 10.0, 6.0])).round(2).tolist()  # 6: 2, 3, 2, 2, 3, ...
    [0.0, 0.0, 0.8]
    """
    shares = np.zeros(len(slides))
    for number, slide in enumerate(slides.tolist()):
        counts = np.diff(np.searchsorted(ends, np.arange(0, ends[-1] + 1e-9, slide), side="right"))
        if len(counts) > 1:
            shares[number] = np.mean(counts[1:] != counts[:-1])
    return shares


def equally_likely(distinct: float, draws: float) -> float:
    """Return how many equally likely things there are, if so many draws show so many distinct ones on average.

    Ten draws from ten things show 6.3 of them.


    >>> round(equally_likely(6.321, 10.0), 2)
    10.0
    """
    low, high = max(distinct, 1.0), MOST_LIKELY
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if -middle * math.expm1(-draws / middle) > distinct else (middle, high)
    return low


def sample_slices(tree: Tree) -> FloatArray:
    """Return the lengths of some of the slices of a tree, in ticks.

    >>> from fractions import Fraction
    >>> from optimizer.plan.definition import EVENTS
    >>> from optimizer.windows.window import Window, WindowSet
    >>> windows = WindowSet.of([Window(4, 4), Window(6, 6)])
    >>> sample_slices(Tree("t1", ("a",), windows, Fraction(1, 3), (), EVENTS, (), 0.0))[:5].tolist()
    [4.0, 2.0, 2.0, 4.0, 4.0]
    """
    edges, span = tree.edges(), round(SAMPLED / float(tree.edge_rate))
    places = np.unique(np.concatenate([np.arange(residue, span, period) for period, residue in edges]))
    return np.diff(places).astype(float) if len(places) > 1 else np.array([1 / float(tree.edge_rate)])


def count_types(trees: Sequence[Tree]) -> int:
    """Return how many columns the answers of trees take: those of counts are of another type than others.

    >>> from fractions import Fraction
    >>> from optimizer.plan.definition import EVENTS, Demand, Measure
    >>> from optimizer.windows.window import Window, WindowSet
    >>> windows = WindowSet.of([Window(10, 10)])
    >>> sums, counts = (Demand(Measure(name, ("x",)), "daba", windows) for name in ("sum", "count"))
    >>> def answered(*demands: Demand) -> int:
    ...     return count_types([Tree("t1", ("a",), windows, Fraction(1, 10), demands, EVENTS, (), 0.0)])
    >>> answered(counts), answered(sums, counts)  # an average
    (1, 1)
    >>> answered(sums, Demand(Measure("count", ("*",)), "daba", windows))
    2
    """
    demands = [demand for tree in trees for demand in tree.demands if demand.technique]
    others: dict[tuple[tuple[str, ...], str], set[tuple[int, int, int]]] = defaultdict(set)
    for demand in demands:
        if demand.measure.component != "count":
            others[demand.measure.arguments, demand.measure.where].update(demand.windows.tuples())
    has_counts = any(
        demand.measure.component == "count"
        and not others[demand.measure.arguments, demand.measure.where].issuperset(demand.windows.tuples())
        for demand in demands
    )
    return max(bool(any(others.values())) + has_counts, 1)
