"""The chunks of every slide over the rows of a grid: each level is folded once, finer ones feed coarser ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from numba import njit

from jobs.kernels.arrays import Column
from jobs.kernels.columns.one_row_apart import slide
from jobs.kernels.columns.operators import fuse_into, identity
from jobs.kernels.columns.rows_apart import chunks
from jobs.kernels.columns.scratch import room


class Run(NamedTuple):
    """So many windows of a query, in ticks: the first begins at `start`, each of the others a slide later."""

    range: int
    slide: int
    start: int
    windows: int

    @property
    def end(self) -> int:
        """The tick that the last window ends with."""
        return self.start + (self.windows - 1) * self.slide + self.range


class Cover(NamedTuple):
    """The first and the last tick that hold a slice, and how far chunks may reach beyond them."""

    first: int
    last: int
    margin: int


class Level(NamedTuple):
    """Column j of `rows` is the chunk of the `slide` ticks from low + j * slide on."""

    slide: int
    low: int
    rows: Column

    def has(self, tick: int) -> bool:
        """Whether a chunk begins at this tick."""
        return (tick - self.low) % self.slide == 0

    def column(self, tick: int) -> int:
        """The column of the chunk that begins at a tick."""
        return (tick - self.low) // self.slide


def covering(step: int, phase: int, runs: Sequence[Run], cover: Cover) -> tuple[int, int]:
    """The first tick and the number of the chunks that these runs need, or that coarser levels may."""
    low = min([cover.first - cover.margin, *(run.start for run in runs)])
    high = max([cover.last + cover.margin, *(run.end for run in runs)])
    low -= (low - phase) % step
    return low, (high - low) // step + 1


class Levels:
    """One measure's levels, from its ticks up, for the windows that are going to be asked for."""

    def __init__(self, op: int, ticks: Level, cover: Cover, runs: Sequence[Run]) -> None:
        self.op, self.cover = op, cover
        self._known = [ticks]
        for step, phase in sorted({(run.slide, run.start % run.slide) for run in runs if run.slide > 1}):
            self._add(step, phase, [run for run in runs if (run.slide, run.start % run.slide) == (step, phase)])

    def fold(self, run: Run) -> Column:
        """The folds of a run's windows, a row per group."""
        level = next(each for each in self._known if each.slide == run.slide and each.has(run.start))
        whole, fragment = divmod(run.range, run.slide)
        out = self._room(run.windows)
        _slide_rows(self.op, level.rows, level.column(run.start), whole, out)
        if fragment:
            begin = run.start + whole * run.slide
            fragments = self._chunks(begin, fragment, run.slide, run.windows)
            fuse_into(self.op, out.reshape(-1), fragments.reshape(-1))
        return out

    def _add(self, step: int, phase: int, runs: Sequence[Run]) -> None:
        low, count = covering(step, phase, runs, self.cover)
        self._known.append(Level(step, low, self._chunks(low, step, step, count)))

    def _chunks(self, tick: int, length: int, step: int, count: int) -> Column:
        """The folds of `length` ticks from a tick on and again every `step` ticks; beyond all slices, of nothing."""
        first = min(count, max(0, -((tick + length - 1 - self.cover.first) // step)))
        last = max(first, min(count, (self.cover.last - tick) // step + 1))
        rows = self._room(count)
        rows[:, :first] = rows[:, last:] = identity(self.op, rows.dtype)
        begin = tick + first * step
        finer = max(
            (each for each in self._known if each.has(begin) and length % each.slide == step % each.slide == 0),
            key=lambda each: each.slide,
        )
        size = finer.slide
        _chunk_rows(self.op, finer.rows, finer.column(begin), length // size, step // size, rows, first, last)
        return rows

    def _room(self, columns: int) -> Column:
        rows = self._known[0].rows
        (block,) = room([len(rows) * columns], rows.dtype)
        return block.reshape(len(rows), columns)


@njit(cache=True, nogil=True)
def _slide_rows(op: int, rows: Column, first: int, width: int, out: Column) -> None:
    for g in range(out.shape[0]):
        slide(op, rows[g][first : first + out.shape[1] + width - 1], width, out[g])


@njit(cache=True, nogil=True)
def _chunk_rows(op: int, rows: Column, begin: int, length: int, step: int, out: Column, first: int, last: int) -> None:
    for g in range(out.shape[0]):
        chunks(op, rows[g][begin:], length, step, out[g][first:last])
