"""The partials of windows by a grid: each measure is laid out once, and its levels serve all windows of the tree."""

from __future__ import annotations

from typing import NamedTuple

from jobs.engine.finals.tree_columns import Columns
from jobs.engine.program.program import MeasureProgram
from jobs.kernels.algebra.operators import VALUE_COLUMNS
from jobs.kernels.arrays import Bools, Column
from jobs.kernels.columns.fold import Foldable, prepare
from jobs.kernels.columns.fold_bounds import count_regular_operations
from jobs.kernels.columns.grid import EndedWindows, Grid
from jobs.kernels.columns.levels import Levels
from optimizer.plan.counts import DENSE, DENSE_QUERY, TICK
from optimizer.windows.window import Window


class Folded(NamedTuple):
    """One number per window (several for moments), which are not null (None: all), which sums left int64, and the
    slice that is the source of a selective one, where its payload is read."""

    numbers: tuple[Column, ...]
    valid: Bools | None = None
    overflow: Bools | None = None
    source: Column | None = None


class OnGrid:
    """A tree's slices on a grid, and the levels of the measures that queries have read so far."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self._ended: dict[Window, EndedWindows] = {}
        self._levels: dict[str, tuple[Foldable, list[Levels]]] = {}
        self.done = {TICK: 0, DENSE: 0, DENSE_QUERY: 0}  # by the names of optimizer/plan/counts.py

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
        self.done[DENSE_QUERY] += 1
        self.done[DENSE] += self.grid.groups * self.grid.run(window).windows * len(levels)
        folds = foldable.join([self._fold(level, window) for level in levels])
        return Folded(folds.columns, folds.valid, folds.overflow)

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
            self.done[TICK] += self.grid.ticks * len(levels)
        return self._levels[measure.key]

    def _fold(self, levels: Levels, window: Window) -> Column:
        fold = levels.fold(self.grid.run(window)).reshape(-1)
        places = self.ended_windows(window).places
        return fold if places is None else fold[places]
