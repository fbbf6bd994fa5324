"""The partials of windows by a grid: each measure is laid out once, and its levels serve all windows of the tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jobs.engine.finals.tree_columns import Columns
from jobs.engine.program.program import MeasureProgram
from jobs.kernels.algebra.operators import COUNT, LAST, MAX, MOMENTS, SUM_INT
from jobs.kernels.arrays import Bools, Column
from jobs.kernels.columns.fold import from_limbs
from jobs.kernels.columns.grid import Emitted, Grid
from jobs.kernels.columns.grid_levels import Levels
from jobs.kernels.columns.operations import regular_operations
from jobs.kernels.columns.operators import identity
from optimizer.windows.window import Window


class Folded(NamedTuple):
    """One number per window (three for moments), which are not null (None: all), whether a sum left int64, and the
    slice that is the source of a selective one, where its payload is read."""

    numbers: tuple[Column, ...]
    valid: Bools | None = None
    overflow: bool = False
    source: Column | None = None


class OnGrid:
    """A tree's slices on a grid, and the levels of the measures that queries have read so far."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self._emitted: dict[Window, Emitted] = {}
        self._levels: dict[str, list[Levels]] = {}

    @staticmethod
    def takes(measure: MeasureProgram) -> bool:
        """Whether a measure is folded by a grid: one column at a time, without asking from where."""
        return not measure.carries and measure.op != MOMENTS

    def emitted(self, window: Window) -> Emitted:
        """Return the windows that end and hold a slice."""
        if window not in self._emitted:
            self._emitted[window] = self.grid.emitted(window)
        return self._emitted[window]

    def folded(self, measure: MeasureProgram, partials: Columns, window: Window) -> Folded:
        """Return the folds of one measure, one per window."""
        folds = [self._fold(levels, window) for levels in self._levels_of(measure, partials)]
        valid = folds.pop() > 0 if partials.valid is not None and measure.op != COUNT else None
        if measure.op != SUM_INT:
            return Folded((folds[0],), valid)
        total, overflow = from_limbs(*folds)
        return Folded((total,), valid, bool(overflow.any()))

    def operations(self, window: Window) -> int:
        """Return the combine operations that the block form of two stacks takes for a measure."""
        run = self.grid.run(window)
        return int(regular_operations(run.range, run.slide, run.windows) * self.grid.groups * self.grid.share)

    def _levels_of(self, measure: MeasureProgram, partials: Columns) -> list[Levels]:
        """Return the levels of every column; where some slices are null, those that count the others come last."""
        if measure.key not in self._levels:
            op = MAX if measure.op == LAST else measure.op
            levels = [self.grid.levels(op, _filled(op, column, partials.valid)) for column in partials.columns]
            if partials.valid is not None and measure.op != COUNT:
                levels.append(self.grid.levels(COUNT, partials.valid.astype(np.int64)))
            self._levels[measure.key] = levels
        return self._levels[measure.key]

    def _fold(self, levels: Levels, window: Window) -> Column:
        fold = levels.fold(self.grid.run(window)).reshape(-1)
        places = self.emitted(window).kept
        return fold if places is None else fold[places]


def _filled(op: int, column: Column, valid: Bools | None) -> Column:
    return column if valid is None else np.where(valid, column, column.dtype.type(identity(op, column.dtype)))
