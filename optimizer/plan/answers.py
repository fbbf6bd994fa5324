"""What it takes to answer the windows of a tree, counted before it is done: on a grid, by bounds, or slice by slice."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np

from optimizer.algebra.techniques import BLOCK
from optimizer.plan.batches import Handled
from optimizer.plan.counters import (
    ANSWER,
    ANSWERED,
    BOUND,
    DENSE,
    DENSE_KEY,
    DENSE_QUERY,
    FINAL,
    FOLDED,
    FOLDED_QUERY,
    FOLDED_WIDE,
    RAGGED,
    RAGGED_FOLD,
    ROW,
    STEP,
    STEP_ANSWER,
    TICK,
    VALUE,
    WALKED,
)
from optimizer.plan.definition import Demand, Measure, Tree, omega_of
from optimizer.plan.forest import Forest
from optimizer.windows.window import FloatArray, IntArray, Window, WindowSet

EVERYTHING = ("*",)
# components that no grid takes
WIDE = ("moments", "central_moments", "co_moments", "registers", "value_counts", "first", "last", "argmin", "argmax")
LONG, ROOMY = 1024, 2  # jobs/kernels/columns/grid.py: when a grid pays
BREAKS = 2  # windows of a key that do not follow evenly, whatever its slices: the first ones
PIECES = 16  # of the time before a stream's first full windows


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


class Answers:
    """What it takes to answer the windows of one tree from its slices."""

    def __init__(self, tree: Tree, forest: Forest) -> None:
        self.tree, self.forest = tree, forest
        self.ticks, self.slices = forest.ticks(tree), forest.slices(tree)
        # of the few that are looked at, also those in which none of these windows happens to end: rates count them
        self.batches = [batch for batch in forest.batches(tree) if batch.step.answers]
        self.dense = [] if tree.windows.rows else [batch for batch in self.batches if self._pays(batch)]

    def counts(self) -> Iterator[tuple[str, float]]:
        """Yield the counts, per second of the stream."""
        windows, queries = self.tree.windows, self.tree.askers
        yield ANSWER, float(self._count_ended(windows.range, windows.slide) @ queries)
        rows = float(self._rows() @ queries)
        yield ROW, rows
        yield VALUE, rows * (len(self.tree.group_by) + self.forest.types[self.tree.group_by])
        slides = windows.slide / self.ticks
        answered = self._sum(lambda batch: float(np.minimum(batch.step.ends / slides, 1) @ queries))
        yield ANSWERED, answered * self.forest.buckets(self.tree)
        demands = [demand for demand in folded_demands(self.tree) if demand.technique]
        by_step = [demand for demand in demands if demand.technique != BLOCK]
        dense = [] if by_step else self.dense
        sparse = [batch for batch in self.batches if batch not in dense]
        share = self._share(dense)
        for demand in by_step:
            yield from self._by_step(demand)
        blocks = [demand for demand in demands if demand.technique == BLOCK]
        for demand in blocks:
            wide = demand.measure.component in WIDE
            if dense and not wide:
                yield from self._on_grid(demand, dense)
            ended = float(self._count_ended(demand.windows.range, demand.windows.slide).sum())
            yield FOLDED_WIDE if wide else FOLDED, ended * (1.0 if wide else 1 - share)
            if demand.measure.component != "count":  # whose folds are differences of sums
                yield RAGGED_FOLD, self._ragged(demand.windows, self.batches if wide else sparse)
            yield FOLDED_QUERY, self._folds(demand.windows, self.batches if wide else sparse)
            yield f"{FINAL}{BLOCK}", self._joins(demand.windows, self.batches if wide else sparse)
        yield from self._lookups(blocks, dense)

    def _lookups(self, blocks: Sequence[Demand], dense: Sequence[Handled]) -> Iterator[tuple[str, float]]:
        """Yield what it takes to look up the slices of windows: on a grid, of those of wide measures alone."""
        windows = self.tree.windows
        yield from self._looked_up(windows, [batch for batch in self.batches if batch not in dense])
        wide = {window for demand in blocks if demand.measure.component in WIDE for window in demand.windows.tuples()}
        if dense and wide:
            yield from self._looked_up(WindowSet.of([Window(*window) for window in sorted(wide)]), dense)

    def _looked_up(self, windows: WindowSet, batches: Sequence[Handled]) -> Iterator[tuple[str, float]]:
        share = self._share(batches)
        yield BOUND, share * float(self._count_ended(windows.range, windows.slide).sum())
        yield RAGGED, self._ragged(windows, batches)
        yield WALKED, self._sum(lambda batch: self._answered(windows, batch) * self._columns(batch), batches)

    def _share(self, batches: Sequence[Handled]) -> float:
        """Return the part of the windows that end in some of the batches."""
        ends = self._sum(lambda batch: batch.step.ends)
        return self._sum(lambda batch: batch.step.ends, batches) / ends if ends else 0.0

    def _ragged(self, windows: WindowSet, batches: Sequence[Handled]) -> float:
        """Return how many windows of some batches do not follow the one before them evenly: by chance, and where the
        slices of a key begin and end."""
        uneven = self.forest.ragged(self.tree, windows.slide.astype(float))
        ended = self._share(batches) * self._count_ended(windows.range, windows.slide)

        def count_breaks(batch: Handled) -> float:
            of_key = batch.step.ends * self.ticks / windows.slide
            breaks = BREAKS if batch.step.after else 2 * BREAKS  # where slices begin, windows do not lose any yet
            return float((1 - uneven) @ np.minimum(of_key, breaks * np.minimum(of_key, 1))) * self._groups(batch)

        return float(ended @ uneven) + self._sum(count_breaks, batches)

    def _sum(self, value: Callable[[Handled], float], batches: Sequence[Handled] | None = None) -> float:
        """Return what is done in some of the batches, or in all that answer, per second of the stream."""
        some = self.batches if batches is None else batches
        all_batches = self.forest.batches(self.tree)
        return self.forest.per_second(self.tree, [value(batch) if batch in some else 0.0 for batch in all_batches])

    def _count_ended(self, ranges: IntArray | FloatArray, slides: IntArray, share: float = 1.0) -> FloatArray:
        """Return how many windows end in a second, with an event of their key, if so many of the events count."""
        ended: FloatArray = self._keys_in_windows(np.asarray(share * ranges / self.ticks, float)) / (
            slides / self.ticks
        )
        return ended

    def _rows(self) -> FloatArray:
        """Return how many windows are written in a second: those in which an event passes the query's predicate."""
        windows = self.tree.windows
        place = {window: number for number, window in enumerate(windows.tuples())}
        total, demands = np.zeros(len(windows)), np.zeros(len(windows))
        for demand in self.tree.demands:
            at = np.array([place[window] for window in demand.windows.tuples()], np.int64)
            share = self.forest.traffic.share(demand.measure.where)
            total[at] += self._count_ended(demand.windows.range, demand.windows.slide, share)
            demands[at] += 1
        return total / np.maximum(demands, 1)

    def _keys_in_windows(self, seconds: FloatArray) -> FloatArray:
        """Return the keys that have an event in a window, on average over those that end; the first windows of a run
        are cut off where the stream begins."""
        group_by, schedule = self.tree.group_by, self.forest.schedule
        full = self.forest.traffic.active_keys_in(group_by, seconds)
        length = schedule.batch * schedule.batches
        if not 0 < length < math.inf:  # an endless stream, or a run without events
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

    def _pays(self, batch: Handled) -> bool:
        """Say whether a batch lays out its slices on a grid, as jobs/kernels/columns/grid.py decides it."""
        span, ends = self._span(batch), batch.step.until - max(batch.step.after, batch.low / self.ticks)
        if span < (LONG - 1) * self._unit or 2 * ends < span:
            return False
        groups, windows = self._groups(batch), self.tree.windows
        gap = self.forest.traffic.longest_gap(self.tree.group_by, span)
        long = windows.slide[windows.range / self.ticks >= gap] / self.ticks
        certain = float((ends / long).sum()) * groups
        return self._grid_ticks(batch) * groups <= ROOMY * self._columns(batch) + certain

    def _columns(self, batch: Handled) -> float:
        """Return the slices, or what they are combined to, that a batch reads."""
        return self.forest.columns(self.tree, batch)

    def _span(self, batch: Handled) -> float:
        """Return the seconds that a batch reads slices of."""
        return (batch.high - batch.low) / self.ticks

    def _groups(self, batch: Handled) -> float:
        return self.forest.traffic.active_keys(self.tree.group_by, self._span(batch))

    def _grid_ticks(self, batch: Handled) -> float:
        """Return the ticks of a key's grid: those of its slices, and those that windows at its ends reach."""
        windows = self.tree.windows
        margin = float(windows.slide.max(initial=0)) / self.ticks
        finest = windows.range[windows.slide <= self._unit * self.ticks * (1 + 1e-9)] / self.ticks
        return (self._span(batch) + margin + max(margin, float(finest.max(initial=0.0)))) / self._unit

    def _on_grid(self, demand: Demand, dense: Sequence[Handled]) -> Iterator[tuple[str, float]]:
        per_key = float((self.ticks / demand.windows.slide).sum())
        columns = [1 + self._may_be_null(demand.measure, batch) for batch in dense]
        cells = {id(batch): number * self._groups(batch) for batch, number in zip(dense, columns, strict=True)}
        yield TICK, self._sum(lambda batch: self._grid_ticks(batch) * cells[id(batch)], dense)
        yield DENSE_QUERY, self._folds(demand.windows, dense)
        yield DENSE_KEY, self._sum(lambda batch: self._answered(demand.windows, batch) * cells[id(batch)], dense)
        yield DENSE, self._sum(lambda batch: per_key * batch.step.ends * cells[id(batch)], dense)

    def _may_be_null(self, measure: Measure, batch: Handled) -> bool:
        """Say whether some slice of a batch holds no event that passes the measure's predicate: what is not null is
        then laid out on the grid beside the values. A count is never null."""
        share = self.forest.traffic.share(measure.where)
        if measure.component == "count" or share >= 1:
            return False
        keys, passing = (self.forest.keys_in_slice(self.tree, part) for part in (self.forest.share(self.tree), share))
        return (1 - passing / keys) * self._columns(batch) > 1

    def _answered(self, windows: WindowSet, batch: Handled) -> float:
        """Return how many of these windows (a range and a slide each) end at least once in a batch."""
        return float(np.minimum(batch.step.ends * self.ticks / windows.slide, 1).sum())

    def _folds(self, windows: WindowSet, batches: Sequence[Handled]) -> float:
        """Return how often windows are folded: `_answered`, summed over some batches and the buckets of each."""
        folds = self._sum(lambda batch: self._answered(windows, batch), batches)
        return folds * self.forest.buckets(self.tree)

    def _joins(self, windows: WindowSet, batches: Sequence[Handled]) -> float:
        """Return the operations of two stacks that flip once per block: a flip joins the slices of a window, every
        other window the new slices and both stacks."""
        return self._sum(lambda batch: float(self._joins_in(windows, batch).sum()), batches)

    def _joins_in(self, windows: WindowSet, batch: Handled) -> FloatArray:
        """Return the operations of every window in one batch."""
        if not len(batch.spans):
            return np.zeros(len(windows))
        times, rows = self.forest.columns_until(self.tree, batch)
        after, until = max(batch.step.after * self.ticks, batch.low), batch.step.until * self.ticks
        in_batch = (until - after) / windows.slide
        flips = np.maximum(in_batch / np.ceil(windows.range / windows.slide), np.minimum(in_batch, 1))
        first = np.minimum(flips, 1)
        keys = self._keys_in_windows(windows.range / self.ticks)

        def rows_in(ends: FloatArray) -> FloatArray:
            return np.asarray(np.interp(ends, times, rows) - np.interp(ends - windows.range, times, rows))

        at_first, later = (
            rows_in(np.minimum(after + windows.slide, until)),
            rows_in(np.minimum(after + windows.range, until)),
        )
        fresh = float(np.interp(until, times, rows) - np.interp(after, times, rows))
        flipped = first * np.maximum(at_first - keys, 0) + (flips - first) * np.maximum(later - keys, 0)
        joined = 1 - np.minimum(keys / np.maximum(later, 1e-300), 1)  # a slice that is alone joins none
        stepped = (in_batch - flips) / in_batch * (fresh + in_batch * keys * joined) * np.minimum(2 * joined, 1)
        return np.asarray(flipped + stepped)

    def _by_step(self, demand: Demand) -> Iterator[tuple[str, float]]:
        """Yield the work of a technique of the papers, which takes every slice that a window may hold."""
        slices = self._sum(lambda batch: self._columns(batch))
        yield f"{FINAL}{demand.technique}", slices * omega_of(demand, float(self.tree.edge_rate))
        yield f"{STEP}{demand.technique}", slices
        yield (
            f"{STEP_ANSWER}{demand.technique}",
            float(self._count_ended(demand.windows.range, demand.windows.slide).sum()),
        )
