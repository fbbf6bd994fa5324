"""The chunks of every slide over the rows of a grid: each level is folded once, finer ones feed coarser ones.

A level holds the folds of all chunks of one slide. A window is whole chunks of its slide's level, and a fragment
where its range is no multiple of the slide. A dense column is a grid of one row. All ranges 1, 2, ..., n are a
ladder: each is the one before it and one row more.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from typing import Final, NamedTuple

from numba import njit

from jobs.kernels.algebra.operators import SUM_FLOAT
from jobs.kernels.arrays import Column
from jobs.kernels.columns.one_row_apart import fold_one_row_apart
from jobs.kernels.columns.operators import (
    QUICK_MAX,
    QUICK_MIN,
    as_compiled,
    fuse,
    fuse_into,
    has_nan,
    identity,
    quick_operator,
)
from jobs.kernels.columns.rows_apart import fold_chunks
from jobs.kernels.columns.scratch import allocate_columns, pad_size
from jobs.kernels.columns.simd import VECTOR, load, store
from optimizer.windows.window import Window

Phase = tuple[int, int]  # a slide, and the ticks from a multiple of it to the begin of its chunks
STRIP: Final = 8_192
GROUP: Final = 4  # ranges that are answered from one reading of the range before them


class Run(NamedTuple):
    """The windows of one query, in ticks: the first begins at `start`, each of the others a slide later."""

    range: int
    slide: int
    start: int
    windows: int

    @property
    def end(self) -> int:
        """The tick that the last window ends with.

        >>> Run(range=8, slide=4, start=5, windows=3).end
        21
        """
        return self.start + (self.windows - 1) * self.slide + self.range

    @property
    def phase(self) -> Phase:
        """The slide, and how far behind a multiple of it the windows begin.

        >>> Run(range=8, slide=4, start=5, windows=3).phase
        (4, 1)
        """
        return self.slide, self.start % self.slide


class Cover(NamedTuple):
    """The first and the last tick that hold a slice, and how far chunks may reach beyond them."""

    first: int
    last: int
    margin: int = 0


class Level(NamedTuple):
    """Column j of `rows` is the chunk of the `slide` ticks from low + j * slide on."""

    slide: int
    low: int
    rows: Column

    def has(self, tick: int) -> bool:
        """Say whether a chunk begins at this tick.

        >>> level = Level(4, 2, Column)
        >>> level.has(10), level.has(12)
        (True, False)
        """
        return (tick - self.low) % self.slide == 0

    def column(self, tick: int) -> int:
        """Return the column of the chunk that begins at a tick.

        >>> Level(4, 2, Column).column(10)
        2
        """
        return (tick - self.low) // self.slide


class Extent(NamedTuple):
    """A level that is to be made: its slide, the tick of its first chunk, and the number of its chunks."""

    slide: int
    low: int
    chunks: int


def cover_runs(slide: int, phase: int, runs: Sequence[Run], cover: Cover) -> Extent:
    """Return the chunks of a slide that these runs need, or that coarser levels may.

    >>> cover_runs(4, 1, [Run(range=8, slide=4, start=5, windows=3)], Cover(first=0, last=20))
    Extent(slide=4, low=-3, chunks=7)
    """
    low = min([cover.first - cover.margin, *(run.start for run in runs)])
    high = max([cover.last + cover.margin, *(run.end for run in runs)])
    low -= (low - phase) % slide
    return Extent(slide, low, (high - low) // slide + 1)


class Levels:
    """One measure's levels, from its ticks up."""

    def __init__(self, op: int, ticks: Level, cover: Cover, extents: Sequence[Extent], from_zero: bool = False) -> None:
        """Make the levels of these extents, by rising slide. With `from_zero` only chunks from tick 0 on feed coarser
        ones: which level feeds another decides the order of additions, and so the last bits of a float sum."""
        self.op, self._cover, self._ticks = op, cover, ticks
        self._by_phase: dict[Phase, Level] = {(1, 0): ticks}
        self._feeding = [ticks]
        for extent, rows in zip(extents, self.allocate([extent.chunks for extent in extents]), strict=True):
            self._fill_chunks(extent.low, extent.slide, extent.slide, rows)
            level = Level(extent.slide, extent.low, rows)
            self._by_phase[extent.slide, extent.low % extent.slide] = level
            if not from_zero or extent.low == 0:
                self._feeding.append(level)

    def allocate(self, sizes: Sequence[int]) -> list[Column]:
        """Allocate rows of these sizes, as many each as the grid has, in one block of memory.

        >>> import numpy as np
        >>> levels = Levels(0, Level(1, 0, np.arange(10).reshape(2, -1)), Cover(0, 4), [])
        >>> [rows.shape for rows in levels.allocate([3, 4])]
        [(2, 3), (2, 4)]
        """
        ticks = self._ticks.rows
        blocks = allocate_columns([len(ticks) * size for size in sizes], ticks.dtype)
        return [block.reshape(len(ticks), size) for block, size in zip(blocks, sizes, strict=True)]

    def chunks(self, phase: Phase) -> Column:
        """Return the chunks of a slide and phase, a row per group.

        >>> import numpy as np
        >>> levels = Levels(0, Level(1, 0, np.arange(10).reshape(1, -1)), Cover(0, 9), [Extent(2, 0, 5)])
        >>> levels.chunks((2, 0)).tolist()  # 0 + 1, 2 + 3, ...
        [[1, 5, 9, 13, 17]]
        """
        return self._by_phase[phase].rows

    def fold(self, run: Run, out: Column | None = None) -> Column:
        """Return the folds of a run's windows, a row per group.

        >>> import numpy as np
        >>> ticks = Level(1, 0, np.arange(10).reshape(1, -1))
        >>> levels = Levels(0, ticks, Cover(0, 9), [Extent(2, 0, 5)])
        >>> levels.fold(Run(range=5, slide=2, start=2, windows=2)).tolist()  # 2 + ... + 6 and 4 + ... + 8
        [[20, 30]]
        """
        range_, slide, start, windows = run
        level = self._by_phase[slide, start % slide]
        whole, fragment = divmod(range_, slide)
        if out is None:
            (out,) = self.allocate([windows])
        _slide_rows(self.op, level.rows, level.column(start), whole, out)
        if fragment:
            (fragments,) = self.allocate([windows])
            self._fill_chunks(start + whole * slide, fragment, slide, fragments)
            fuse_into(self.op, out.reshape(-1), fragments.reshape(-1))
        return out

    def _fill_chunks(self, tick: int, length: int, step: int, rows: Column) -> None:
        """Fold `length` ticks from a tick on and again every `step` ticks; beyond all slices there is nothing."""
        count, cover = rows.shape[1], self._cover
        first = min(count, max(0, -((tick + length - 1 - cover.first) // step)))  # chunks that end before all slices
        last = max(first, min(count, (cover.last - tick) // step + 1))
        if first > 0 or last < count:
            rows[:, :first] = rows[:, last:] = identity(self.op, rows.dtype)
        begin = tick + first * step
        finer = max(
            (level for level in self._feeding if level.has(begin) and length % level.slide == step % level.slide == 0),
            key=lambda level: level.slide,
        )
        size = finer.slide
        _chunk_rows(self.op, finer.rows, finer.column(begin), length // size, step // size, rows, first, last)


@njit(cache=True, nogil=True)
def _slide_rows(op: int, rows: Column, first: int, width: int, out: Column) -> None:
    for g in range(out.shape[0]):
        fold_one_row_apart(op, rows[g][first : first + out.shape[1] + width - 1], width, out[g])


@njit(cache=True, nogil=True)
def _chunk_rows(op: int, rows: Column, begin: int, length: int, step: int, out: Column, first: int, last: int) -> None:
    for g in range(out.shape[0]):
        fold_chunks(op, rows[g][begin:], length, step, out[g][first:last])


def fold_windows(op: int, column: Column, windows: Sequence[Window]) -> list[Column]:
    """Return the fold of every full window of a dense column, an array per window; row i is tick i.

    >>> import numpy as np
    >>> [sums.tolist() for sums in fold_windows(0, np.arange(6), [Window(2, 2), Window(3, 2), Window(4, 1, 1)])]
    [[1, 5, 9], [3, 9], [6, 10, 14]]
    """
    column = as_compiled(column)
    rows = len(column)
    by_phase, places = _ranges_by_phase(windows)
    extents = [Extent(slide, start, (rows - start) // slide) for slide, start in sorted(by_phase) if slide > 1]
    levels = Levels(op, Level(1, 0, column.reshape(1, -1)), Cover(0, rows - 1), extents, from_zero=True)
    rungs = {phase: _count_rungs(phase[0], ranges) for phase, ranges in by_phase.items()}
    runs = [  # each with the place of its answer
        (Run(range_, slide, start, (rows - start - range_) // slide + 1), ranges[range_])
        for (slide, start), ranges in by_phase.items()
        for range_ in _beside_rungs(slide, ranges, rungs[slide, start])
    ]
    sizes = [count * pad_size(levels.chunks(phase).shape[1]) for phase, count in rungs.items()]
    blocks = iter(allocate_columns([*sizes, *(run.windows for run, _ in runs)], column.dtype))
    answers = [column] * len(windows)
    for phase, count in rungs.items():
        block = next(blocks)
        if count:
            for rung, answer in enumerate(fold_ladder(op, levels.chunks(phase)[0], block.reshape(count, -1))):
                answers[by_phase[phase][(rung + 1) * phase[0]]] = answer
    for run, place in runs:
        answer = answers[place] = next(blocks)
        levels.fold(run, answer[None])
    return [answers[place] for place in places]


def _ranges_by_phase(windows: Sequence[Window]) -> tuple[dict[Phase, dict[int, int]], list[int]]:
    """Return the ranges of every phase, each with the place of its first window, and that place for every window.

    Windows are not hashed: there may be thousands, and that would take as long as their answers.
    """
    by_phase: dict[Phase, dict[int, int]] = {}
    places = []
    for place, window in enumerate(windows):
        slide = window.slide
        ranges = by_phase.setdefault((slide, window.offset % slide), {})
        places.append(ranges.setdefault(window.range, place))
    return by_phase, places


def _count_rungs(slide: int, ranges: Container[int]) -> int:
    """Count the ranges of 1, 2, 3, ... slides, each the one before and one chunk more; none, if there is only one."""
    count = 0
    while (count + 1) * slide in ranges:
        count += 1
    return count if count > 1 else 0


def _beside_rungs(slide: int, ranges: Collection[int], rungs: int) -> list[int]:
    """Return the ranges that the ladder of 1, 2, ..., `rungs` slides does not answer."""
    if rungs == len(ranges):
        return []
    return [range_ for range_ in sorted(ranges) if range_ % slide or range_ > rungs * slide]


def fold_ladder(op: int, column: Column, out: Column) -> list[Column]:
    """Return the folds of column[i : i + r] for every r from 1 on, an array per r: the rows of out, as far as they go.

    >>> import numpy as np
    >>> [folds.tolist() for folds in fold_ladder(5, np.array([3.0, 1.0, 2.0]), np.empty((2, 3)))]  # MAX
    [[3.0, 1.0, 2.0], [3.0, 2.0]]
    """
    _ladder(op if has_nan(column) else quick_operator(op), column, out)
    rows = len(column)
    return [row[: rows - r] for r, row in enumerate(out)]


@njit(cache=True, nogil=True)
def _ladder(op: int, column: Column, out: Column) -> None:
    """Strip by strip: the range before is still in the cache when a group of ranges reads it."""
    for k in range(column.size):
        out[0, k] = column[k]
    for a in range(0, column.size, STRIP):
        for low in range(1, min(out.shape[0], column.size - a), GROUP):
            next_row = _fold_group(op, column, low, a, out) if low + GROUP <= out.shape[0] else a
            for r in range(low, min(low + GROUP, out.shape[0])):
                row, before = out[r], out[r - 1]
                for k in range(next_row, min(a + STRIP, column.size - r)):
                    row[k] = fuse(op, before[k], column[k + r])


@njit(cache=True, nogil=True)
def _fold_group(op: int, column: Column, low: int, a: int, out: Column) -> int:
    """Answer the ranges of a group from window a on, as far as vectors go; return where they ended."""
    if op <= SUM_FLOAT:
        return _climb(SUM_FLOAT, column, low, a, out)
    if op == QUICK_MAX:
        return _climb(QUICK_MAX, column, low, a, out)
    if op == QUICK_MIN:
        return _climb(QUICK_MIN, column, low, a, out)
    return a


@njit(cache=True, nogil=True, forceinline=True)
def _climb(op: int, column: Column, low: int, a: int, out: Column) -> int:
    before, first, second, third, fourth = out[low - 1], out[low], out[low + 1], out[low + 2], out[low + 3]
    windows = min(STRIP, column.size - a - low - GROUP + 1)
    end = a + max(0, windows) // VECTOR * VECTOR
    for k in range(a, end, VECTOR):
        fold = fuse(op, load(before, k), load(column, k + low))
        store(first, k, fold)
        fold = fuse(op, fold, load(column, k + low + 1))
        store(second, k, fold)
        fold = fuse(op, fold, load(column, k + low + 2))
        store(third, k, fold)
        store(fourth, k, fuse(op, fold, load(column, k + low + 3)))
    return end
