"""The partials of the windows that end: one measure of a tree under one window, by the technique of the plan.

On a grid, each measure is laid out once, and its levels serve all windows of the tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from jobs.engine.finals.tree_columns import Bounds, Columns, TreeColumns, count_ragged
from jobs.engine.program.program import MeasureProgram, TreeProgram
from jobs.kernels.algebra.operators import SUM_INT, VALUE_COLUMNS, lower
from jobs.kernels.arrays import Bools, Column, Ints, Rows
from jobs.kernels.columns.bounds import WindowBounds, find_windows
from jobs.kernels.columns.fold import Foldable, prepare
from jobs.kernels.columns.fold import fold as fold_block
from jobs.kernels.columns.fold_bounds import count_operations, count_regular_operations, pick_rows
from jobs.kernels.columns.grid import EndedWindows, Grid, lay_out_grid
from jobs.kernels.columns.levels import Levels
from jobs.kernels.techniques.stream import run_and_count
from optimizer.algebra.techniques import BLOCK
from optimizer.plan.counters import (
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
    STEP,
    STEP_ANSWER,
    TICK,
    WALKED,
)
from optimizer.windows.window import Window


class Finals:
    """The windows of one tree that end in (after, until], or within the bounds; each is folded once a measure."""

    def __init__(
        self, slices: TreeColumns, tree: TreeProgram, after: int, until: int, bounds: Bounds | None = None
    ) -> None:
        self.slices, self.tree, self.bounds = slices, tree, bounds
        self.after, self.until = bounds.span if bounds else (after, until)
        self.operations: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._ranges: dict[Window, WindowBounds] = {}
        self._ragged: dict[Window, int] = {}
        self._folded: dict[tuple[str, Window], Folded] = {}
        self.distinct: dict[tuple[str, Window], Ints] = {}  # values of the windows, by measure

    def emitted(self, window: Window) -> EndedWindows:
        """Return the windows that end and hold a slice."""
        if self._on_grid:
            return self._on_grid.ended_windows(window)
        windows = self.ranges(window)
        return EndedWindows(windows.group, windows.start, None)

    def ranges(self, window: Window) -> WindowBounds:
        """Return the slices of every window that ends and holds some."""
        if window not in self._ranges:
            windows = self._ranges[window] = self._find_ranges(self.slices, window)
            ragged = self._ragged[window] = count_ragged(windows.lo, windows.hi)
            self.tally({BOUND: len(windows.start), WALKED: len(self.slices.start), RAGGED: ragged})
        return self._ranges[window]

    def root_ranges(self, window: Window) -> WindowBounds:
        """Return the same windows by the finest slices, where a tree's own are folded from others."""
        root = self.slices.root
        return self.ranges(window) if root is self.slices else self._find_ranges(root, window)

    def _find_ranges(self, slices: TreeColumns, window: Window) -> WindowBounds:
        windows = find_windows(slices.offsets, slices.start, window, self.after, self.until)
        if self.bounds:
            inside = self.bounds.inside(windows.group, windows.start + window.range)
            windows = WindowBounds(*(column[inside] for column in windows))
        return windows

    def folded(self, key: str, window: Window) -> Folded:
        """Return the folds of one measure, one per window of `emitted(window)`; each is made once."""
        if (key, window) not in self._folded:
            self._fold(self.tree.measure(key), window)
        return self._folded[key, window]

    @cached_property
    def _on_grid(self) -> OnGrid | None:
        """The slices on a grid, where that pays for a technique that takes columns."""
        if self.bounds or any(self._technique(measure) != BLOCK for measure in self.tree.measures):
            return None
        windows = sorted({query.window for query in self.tree.queries})
        grid = lay_out_grid(self.slices.offsets, self.slices.start, windows, self.after, self.until)
        return OnGrid(grid) if grid else None

    def _technique(self, measure: MeasureProgram) -> str:
        return self.tree.techniques.get(measure.key, BLOCK)

    @cached_property
    def _is_closed(self) -> Bools:
        """The literal kernels take closed partials only: of slices that start before the watermark."""
        return self.slices.start < self.until

    @cached_property
    def _closed_offsets(self) -> Ints:
        closed_before = np.concatenate([[0], np.cumsum(self._is_closed)])
        return closed_before[self.slices.offsets]

    def _fold(self, measure: MeasureProgram, window: Window) -> None:
        technique = self._technique(measure)
        if technique != BLOCK:
            self._fold_by_slice(measure, technique)
        elif self._on_grid and self._on_grid.takes(measure):
            self._folded[measure.key, window] = self._on_grid.folded(measure, self.slices.columns(measure), window)
            self._count(measure.key, self._on_grid.operations(window))
        else:
            windows = self.ranges(window)
            self._folded[measure.key, window] = _fold_block(measure, self.slices.columns(measure), windows)
            operations = int(count_operations(windows.lo, windows.hi))  # plain Python without the JIT, too
            self._count(measure.key, operations)
            folds = len(windows.lo)
            self.tally({_name_of_folds(measure): folds, FOLDED_QUERY: folds > 0, f"{FINAL}{BLOCK}": operations})
            self.tally({RAGGED_FOLD: 0 if measure.component == "count" else self._ragged[window]})

    def _count(self, key: str, operations: int) -> None:
        self.operations[key] = self.operations.get(key, 0) + operations

    @property
    def counts(self) -> dict[str, int]:
        """What was done so far, by the names of optimizer/plan/counters.py."""
        grid = self.__dict__.get("_on_grid")  # none is laid out to be asked
        return {**self._counts, **(grid.counts if grid else {})}

    def tally(self, counts: Mapping[str, int]) -> None:
        """Count something more that was done."""
        for name, count in counts.items():
            self._counts[name] = self._counts.get(name, 0) + count

    def _fold_by_slice(self, measure: MeasureProgram, technique: str) -> None:
        """Run a technique that takes a slice at a time: one pass answers all windows that ask for the measure."""
        windows = sorted({q.window for q in self.tree.queries if measure.key in (*q.measures, q.passing)})
        rows = self.slices.rows(measure)
        if measure.carries:
            rows[:, 1] = np.arange(len(rows))
        closed = self._is_closed
        starts, offsets = self.slices.start[closed], self._closed_offsets
        answers, counted = run_and_count(
            technique, windows, measure.component, offsets, starts, rows[closed], self.until, self.after
        )
        self._count(measure.key, counted.estimated)
        steps = {f"{STEP}{technique}": len(starts), f"{STEP_ANSWER}{technique}": len(answers.query)}
        self.tally({f"{FINAL}{technique}": counted.estimated, **steps})
        for number, window in enumerate(windows):
            places = np.flatnonzero(answers.query == number)
            if self.bounds:
                ends = answers.start[places] + window.range
                places = places[self.bounds.inside(answers.group[places], ends)]
            self._folded[measure.key, window] = _lower(measure, answers.rows[places])


def _name_of_folds(measure: MeasureProgram) -> str:
    """Moments take more than one number, and carried values are found by their place."""
    return FOLDED_WIDE if measure.op in VALUE_COLUMNS or measure.carries else FOLDED


def _fold_block(measure: MeasureProgram, partials: Columns, windows: WindowBounds) -> Folded:
    if measure.carries:
        index = pick_rows(measure.op, partials.columns[0], windows.lo, windows.hi, partials.valid)
        return Folded((), index >= 0, source=np.maximum(index, 0))
    answer = fold_block(measure.op, partials.columns, windows.lo, windows.hi, partials.valid)
    return Folded(answer.columns, answer.valid, answer.overflow, limbs=answer.limbs)


def _lower(measure: MeasureProgram, rows: Rows) -> Folded:
    numbers, valid, overflow = lower(measure.op, rows)
    parts = VALUE_COLUMNS.get(measure.op)
    columns = tuple(rows[:, number] for number in parts) if parts else (numbers,)
    limbs = (rows[:, 0], rows[:, 1]) if measure.op == SUM_INT else None
    return Folded(columns, valid, overflow, rows[:, 1].astype(np.int64) if measure.carries else None, limbs)


class Folded(NamedTuple):
    """One number per window (several for moments), which are not null (None: all), which sums left int64, the
    slice that is the source of a selective one, where its payload is read, and the limbs of sums that have them."""

    numbers: tuple[Column, ...]
    valid: Bools | None = None
    overflow: Bools | None = None
    source: Column | None = None
    limbs: tuple[Ints, Ints] | None = None


class OnGrid:
    """A tree's slices on a grid, and the levels of the measures that queries have read so far."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self._ended: dict[Window, EndedWindows] = {}
        self._levels: dict[str, tuple[Foldable, list[Levels]]] = {}
        self.counts = {TICK: 0, DENSE: 0, DENSE_KEY: 0, DENSE_QUERY: 0}  # by the names of optimizer/plan/counters.py

    @staticmethod
    def takes(measure: MeasureProgram) -> bool:
        """Say whether a measure is folded by a grid: one column at a time, whatever slice its answer comes from."""
        return not measure.carries and measure.op not in VALUE_COLUMNS

    def ended_windows(self, window: Window) -> EndedWindows:
        """Return the windows that end and hold a slice."""
        if window not in self._ended:
            self._ended[window] = self.grid.ended_windows(window)
        return self._ended[window]

    def folded(self, measure: MeasureProgram, partials: Columns, window: Window) -> Folded:
        """Return the folds of one measure, one per window."""
        foldable, levels = self._levels_of(measure, partials)
        self.counts[DENSE_QUERY] += 1
        self.counts[DENSE_KEY] += self.grid.groups * len(levels)
        self.counts[DENSE] += self.grid.groups * self.grid.run(window).windows * len(levels)
        folds = foldable.join([self._fold(level, window) for level in levels])
        return Folded(folds.columns, folds.valid, folds.overflow, limbs=folds.limbs)

    def operations(self, window: Window) -> int:
        """Return the combine operations that the block form of two stacks takes for a measure."""
        run = self.grid.run(window)
        return int(count_regular_operations(run.range, run.slide, run.windows) * self.grid.groups * self.grid.share)

    def _levels_of(self, measure: MeasureProgram, partials: Columns) -> tuple[Foldable, list[Levels]]:
        """Return the measure's columns without nulls, and the levels of every part; they serve all windows."""
        if measure.key not in self._levels:
            foldable = prepare(measure.op, partials.columns, partials.valid, len(partials.columns[0]))
            levels = [self.grid.levels(op, column) for op, column in foldable.parts]
            self._levels[measure.key] = foldable, levels
            self.counts[TICK] += self.grid.ticks * len(levels)
        return self._levels[measure.key]

    def _fold(self, levels: Levels, window: Window) -> Column:
        fold = levels.fold(self.grid.run(window)).reshape(-1)
        places = self.ended_windows(window).places
        return fold if places is None else fold[places]
