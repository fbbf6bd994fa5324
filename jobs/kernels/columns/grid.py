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

from jobs.kernels.arrays import Bools, Column, Ints
from jobs.kernels.columns.levels import Cover, Extent, Level, Levels, Run, cover_runs
from jobs.kernels.columns.operators import identity
from optimizer.windows.window import Window

LONG: Final = 1024  # ticks in a row that make the dense form worth its set-up
ROOMY: Final = 2  # ticks there may be to a slice, beside one for every window that surely ends with one
NEVER: Final = 1 << 62


class EndedWindows(NamedTuple):
    """The windows of a query that end, group by group and in order; `places` says where they are among all of a run."""

    group: NDArray[np.integer[Any]]
    start: Ints
    places: Ints | None  # None: all of them


class Grid:
    """The slices of a tree. Tick 0 begins at `zero`, and every tick takes a `unit`.

    >>> from jobs.kernels.algebra.operators import COUNT
    >>> window = Window(4, 1)
    >>> grid = lay_out_grid(np.array([0, 2000]), np.arange(2000), [window], after=0, until=2000)
    >>> grid.groups, grid.share, grid.ticks, grid.certain_windows
    (1, 1.0, 2004, 1999)
    >>> grid.run(window)
    Run(range=4, slide=1, start=-3, windows=2000)
    >>> ended = grid.ended_windows(window)
    >>> ended.start[:3].tolist(), ended.places is None
    ([-3, -2, -1], True)
    >>> grid.levels(COUNT, np.ones(2000, np.int64)).fold(grid.run(window))[:, :3].tolist()
    [[1, 2, 3]]
    """

    def __init__(self, offsets: Ints, tick: Ints, unit: int, zero: int, windows: dict[Window, Run]) -> None:
        self._offsets, self._tick, self._unit, self._zero = offsets, tick, unit, zero
        sizes = np.diff(offsets)
        occupied = np.flatnonzero(sizes)
        self._first, self._last = np.full(len(sizes), NEVER), np.full(len(sizes), -NEVER)
        self._first[occupied], self._last[occupied] = tick[offsets[occupied]], tick[offsets[occupied + 1] - 1]
        self._windows = windows
        margin = max(run.slide for run in windows.values())
        self._cover = Cover(int(self._first.min()), int(self._last.max()), margin)
        self._ticks = cover_runs(1, 0, [run for run in windows.values() if run.slide == 1], self._cover)
        self._gap = self._longest_gap(offsets[occupied[1:]])

    @cached_property
    def _place(self) -> Ints:
        """The place of every slice among the ticks of all groups."""
        ticks = self._ticks
        return np.repeat(np.arange(self.groups) * ticks.chunks - ticks.low, np.diff(self._offsets)) + self._tick

    @cached_property
    def _next_slice(self) -> NDArray[np.int32]:
        """The first tick from every tick of every group on that holds a slice; one more tick ends the row."""
        ticks = self._ticks.chunks
        ahead = np.full((self.groups, ticks + 1), np.iinfo(np.int32).max, np.int32)
        place = np.repeat(np.arange(self.groups) * (ticks + 1) - self._ticks.low, np.diff(self._offsets)) + self._tick
        ahead.reshape(-1)[place] = self._tick - self._ticks.low
        backwards = ahead[:, ::-1]
        np.minimum.accumulate(backwards, axis=1, out=backwards)
        return ahead

    def _longest_gap(self, begins: Ints) -> int:
        """Return the most ticks from a slice to the next one of its group."""
        gaps = np.diff(self._tick)
        gaps[begins - 1] = 1  # from the last slice of a group to the first of the next
        return int(gaps.max(initial=1))

    @property
    def groups(self) -> int:
        """The number of rows."""
        return len(self._first)

    @property
    def share(self) -> float:
        """The part of the ticks that hold a slice."""
        return len(self._tick) / (self.groups * (self._cover.last - self._cover.first + 1))

    @property
    def ticks(self) -> int:
        """The ticks that have to be filled for every measure."""
        return self.groups * self._ticks.chunks

    @property
    def certain_windows(self) -> int:
        """The number of windows that surely hold a slice: no gap between a group's slices is as long as they are."""
        spans = self._last - self._first
        spans = spans[spans >= 0]
        long = (run for run in self._windows.values() if run.range >= self._gap)
        return sum(int(np.minimum(spans // run.slide, run.windows).sum()) for run in long)

    def run(self, window: Window) -> Run:
        """Return the windows that end and may hold a slice of some group."""
        return self._windows[window]

    def ended_windows(self, window: Window) -> EndedWindows:
        """Return the windows that end and hold a slice of their group."""
        run = self.run(window)
        begin = run.start + run.slide * np.arange(run.windows)
        start = begin * self._unit + self._zero
        holds_slice = self._holds_slice(run, begin)
        if holds_slice is None:
            group = np.repeat(np.arange(self.groups, dtype=np.int32), run.windows)
            return EndedWindows(group, np.tile(start, self.groups), None)
        places = np.flatnonzero(holds_slice)
        group, number = np.divmod(places, max(1, run.windows))
        return EndedWindows(group.astype(np.int32), start[number], places)

    def _holds_slice(self, run: Run, begin: Ints) -> Bools | None:
        """Return which windows of every group hold a slice; None where all do."""
        if run.range < self._gap:
            column = begin - self._ticks.low
            ahead = self._next_slice.take(np.clip(column, 0, self._ticks.chunks), axis=1)
            return np.asarray(ahead < (column + run.range).astype(np.int32))
        first, last = self._first - run.range, self._last
        if not run.windows or (first.max() < begin[0] and begin[-1] <= last.min()):
            return None
        return (begin > first[:, None]) & (begin <= last[:, None])

    def levels(self, op: int, column: Column, runs: Sequence[Run] | None = None) -> Levels:
        """Lay out a column of the slices, and fold its levels for all windows or for some."""
        ticks = self._ticks
        rows = np.full((self.groups, ticks.chunks), identity(op, column.dtype), column.dtype)
        rows.reshape(-1)[self._place] = column
        extents = self._extents(list(self._windows.values()) if runs is None else runs)
        return Levels(op, Level(1, ticks.low, rows), self._cover, extents)

    def _extents(self, runs: Sequence[Run]) -> list[Extent]:
        """Return the levels above the ticks that the runs need, by rising slide."""
        phases = sorted({run.phase for run in runs if run.slide > 1})
        return [cover_runs(*phase, [run for run in runs if run.phase == phase], self._cover) for phase in phases]


def lay_out_grid(offsets: Ints, starts: Ints, windows: Sequence[Window], after: int, until: int) -> Grid | None:
    """Lay out the slices on a grid for the windows that end in (after, until]; None where that would not pay.

    >>> from jobs.kernels.algebra.operators import COUNT
    >>> starts, window = np.arange(2000), Window(4, 1)
    >>> grid = lay_out_grid(np.array([0, 2000]), starts, [window], after=0, until=2000)
    >>> grid.levels(COUNT, np.ones(2000, np.int64)).fold(grid.run(window))[:, :4].tolist()  # from tick -3 on
    [[1, 2, 3, 4]]
    """
    if not len(starts) or any(window.rows for window in windows):
        return None
    zero, low, high = int(starts[0]), int(starts.min()), int(starts.max())
    unit = gcd(*(length for w in windows for length in (w.range, w.slide, w.offset - zero)))
    if high - low < (LONG - 1) * unit:
        return None
    if 2 * (until - max(after, low)) < high - low:  # few windows end, many slices are retained
        return None
    tick = (starts - zero) // unit
    if not np.array_equal(tick * unit + zero, starts):
        return None
    runs = {window: _run_of(window, (low, high), (after, until), unit, zero) for window in windows}
    grid = Grid(offsets, tick, unit, zero, runs)
    return grid if grid.ticks <= ROOMY * len(starts) + grid.certain_windows else None


def _run_of(window: Window, ends: tuple[int, int], clock: tuple[int, int], unit: int, zero: int) -> Run:
    """Return the windows that end in time, and begin late enough to hold the first slice, early enough for the last."""
    first = (max(ends[0], clock[0]) - window.offset - window.range) // window.slide + 1
    last = min(ends[1] - window.offset, clock[1] - window.offset - window.range) // window.slide
    begin = (first * window.slide + window.offset - zero) // unit
    return Run(window.range // unit, window.slide // unit, begin, max(0, last - first + 1))
