"""Slices on a grid: a row per group, a column per tick; a tick without a slice holds what changes nothing.

On a grid all windows of a query are equally wide and equally far apart, whatever gaps there are, so no window needs
bounds of its own. Which of them hold no slice at all is known from each group's ends and its longest gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import gcd
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jobs.kernels.algebra.operators import COUNT
from jobs.kernels.arrays import Bools, Column, Ints
from jobs.kernels.columns.grid_levels import Cover, Level, Levels, Run, covering
from jobs.kernels.columns.operators import identity
from optimizer.windows.window import Window

LONG: Final = 1024  # ticks in a row that make the dense form worth its set-up
ROOMY: Final = 2  # ticks there may be to a slice, beside one for every window that surely ends with one
NEVER: Final = 1 << 62


class Emitted(NamedTuple):
    """The windows of a query that end, group by group and in order; `kept` are their places among all of a run."""

    group: NDArray[np.integer[Any]]
    start: Ints
    kept: Ints | None  # None: all of them


class Grid:
    """The slices of a tree. Tick 0 begins at `zero`, and every tick takes a `unit`."""

    def __init__(self, offsets: Ints, tick: Ints, unit: int, zero: int, windows: dict[Window, Run]) -> None:
        self._offsets, self._tick, self._unit, self._zero = offsets, tick, unit, zero
        sizes = np.diff(offsets)
        held = np.flatnonzero(sizes)
        self._first, self._last = np.full(len(sizes), NEVER), np.full(len(sizes), -NEVER)
        self._first[held], self._last[held] = tick[offsets[held]], tick[offsets[held + 1] - 1]
        self._windows = windows
        margin = max(run.slide for run in windows.values())
        self._cover = Cover(int(self._first.min()), int(self._last.max()), margin)
        self._ticks = covering(1, 0, [run for run in windows.values() if run.slide == 1], self._cover)
        self._gap = self._longest_gap(offsets[held[1:]])

    @cached_property
    def _place(self) -> Ints:
        """Where every slice goes."""
        low, count = self._ticks
        return np.repeat(np.arange(self.groups) * count - low, np.diff(self._offsets)) + self._tick

    def _longest_gap(self, begins: Ints) -> int:
        """From a slice to the next one of its group."""
        onward = np.diff(self._tick)
        onward[begins - 1] = 1
        return int(onward.max(initial=1))

    @property
    def groups(self) -> int:
        """How many rows there are."""
        return len(self._first)

    @property
    def share(self) -> float:
        """Slices to a tick."""
        return len(self._tick) / (self.groups * (self._cover.last - self._cover.first + 1))

    @property
    def room(self) -> int:
        """Ticks there are to be filled for every measure."""
        return self.groups * self._ticks[1]

    @property
    def certain(self) -> int:
        """Windows that surely hold a slice: those that no gap is as long as, between a group's first and last one."""
        spans = self._last - self._first
        spans = spans[spans >= 0]
        long = (run for run in self._windows.values() if run.range >= self._gap)
        return sum(int(np.minimum(spans // run.slide, run.windows).sum()) for run in long)

    def run(self, window: Window) -> Run:
        """The windows that end and may hold a slice of some group."""
        return self._windows[window]

    def emitted(self, window: Window) -> Emitted:
        """The windows that end and hold a slice of their group."""
        run = self.run(window)
        begin = run.start + run.slide * np.arange(run.windows)
        start = begin * self._unit + self._zero
        holding = self._holding(run, begin)
        if holding is None:
            group = np.repeat(np.arange(self.groups, dtype=np.int32), run.windows)
            return Emitted(group, np.tile(start, self.groups), None)
        kept = np.flatnonzero(holding)
        group, place = np.divmod(kept, max(1, run.windows))
        return Emitted(group.astype(np.int32), start[place], kept)

    def _holding(self, run: Run, begin: Ints) -> Bools | None:
        """Which windows of every group hold a slice; None where all do."""
        if run.range < self._gap:
            holding: Bools = self.levels(COUNT, np.ones(len(self._tick), np.int64), [run]).fold(run) > 0
            return holding
        first, last = self._first - run.range, self._last
        if not run.windows or (first.max() < begin[0] and begin[-1] <= last.min()):
            return None
        return (begin > first[:, None]) & (begin <= last[:, None])

    def levels(self, op: int, column: Column, runs: Sequence[Run] | None = None) -> Levels:
        """A column of the slices, folded for all windows or for some."""
        low, count = self._ticks
        rows = np.full((self.groups, count), identity(op, column.dtype), column.dtype)
        rows.reshape(-1)[self._place] = column
        return Levels(op, Level(1, low, rows), self._cover, list(self._windows.values()) if runs is None else runs)


def grid_of(offsets: Ints, starts: Ints, windows: Sequence[Window], after: int, until: int) -> Grid | None:
    """The slices on a grid for the windows that end in (after, until]; None where that would not pay."""
    if not len(starts) or any(window.rows for window in windows):
        return None
    zero, low, high = int(starts[0]), int(starts.min()), int(starts.max())
    unit = gcd(*(part for w in windows for part in (w.range, w.slide, w.offset - zero)))
    if high - low < (LONG - 1) * unit:
        return None
    if 2 * (until - max(after, low)) < high - low:  # few windows end, many slices are retained
        return None
    tick = (starts - zero) // unit
    if not np.array_equal(tick * unit + zero, starts):
        return None
    runs = {window: _run(window, (low, high), (after, until), unit, zero) for window in windows}
    grid = Grid(offsets, tick, unit, zero, runs)
    return grid if grid.room <= ROOMY * len(starts) + grid.certain else None


def _run(window: Window, ends: tuple[int, int], clock: tuple[int, int], unit: int, zero: int) -> Run:
    """The windows that end in time, and begin late enough to hold the first slice, early enough to hold the last."""
    first = (max(ends[0], clock[0]) - window.offset - window.range) // window.slide + 1
    last = min(ends[1] - window.offset, clock[1] - window.offset - window.range) // window.slide
    begin = (first * window.slide + window.offset - zero) // unit
    return Run(window.range // unit, window.slide // unit, begin, max(0, last - first + 1))
