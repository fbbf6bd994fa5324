"""The slices of a tree as columns: a root's are taken from its rows, a fed tree's are folded from its feeder's.

A tree that another one feeds is a level: it has no slices of its own on disk or in an exchange, and only the measures
that its queries read are ever folded.

Where windows count rows, every row is a slice with a number: a key's events in event time, ties by arrival. A row is
settled by the watermark. Such clocks stand at another number for every key, so that other windows end: see `Bounds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from jobs.engine.events.columns import BATCH, FILE, POSITION, text_ranks
from jobs.engine.events.keys import Keys, key_codes
from jobs.engine.program.program import Grouping, MeasureProgram, TreeProgram
from jobs.engine.slices.slices import Slices, merge, partials_of
from jobs.engine.slices.tallies import Tally, read_tally
from jobs.kernels.algebra.operators import (
    LIMB_BITS,
    LIMB_MASK,
    SUM_FLOAT,
    SUM_INT,
    VALID,
    VALUE_COLUMNS,
    width_of,
)
from jobs.kernels.arrays import Bools, Column, Ints, Rows
from jobs.kernels.columns.fold import prepare
from jobs.kernels.columns.fold_bounds import fold_between, pick_rows
from jobs.kernels.columns.moments import fold_all_moments
from jobs.kernels.slices.edges import level_bounds, slice_starts
from jobs.kernels.tallies.values import RankedTally, rank_entries
from optimizer.windows.edges import Edges

COUNT = "count"
FEW, SOME = 256, 512  # windows that are not worth a look; those that are looked at


class Columns(NamedTuple):
    """A measure's partials as the columnar kernels want them; no mask when none is null."""

    columns: tuple[Column, ...]
    valid: Bools | None


class TreeColumns(Protocol):
    """What finals read of a tree: whose slices there are, when they start, and the columns of its measures."""

    keys: pa.Table
    offsets: Ints
    start: Ints

    @property
    def root(self) -> RootColumns:
        """The finest slices that it is made of, which alone have tallies."""

    def columns(self, measure: MeasureProgram) -> Columns:
        """Return the columns of a measure, made once."""

    def rows(self, measure: MeasureProgram) -> Rows:
        """Return the partials of a measure as rows, for the techniques that take a slice at a time."""

    def carried(self, measure: MeasureProgram, name: str, index: pa.Array) -> pa.Array:
        """Return the values that some slices carry beside a measure."""


class RootColumns:
    """The columns of a tree that keeps its slices."""

    def __init__(self, slices: Slices) -> None:
        self._slices = slices
        self.keys, self.offsets, self.start = slices.keys, slices.offsets, slices.start
        self._columns: dict[str, Columns] = {}
        self._tallies: dict[str, Tally] = {}
        self._ranked: dict[str, RankedTally] = {}

    @property
    def root(self) -> RootColumns:
        """The slices that a root's columns come from: these."""
        return self

    def tally(self, measure: MeasureProgram) -> Tally:
        """Return the tally of a measure, read once."""
        if measure.key not in self._tallies:
            self._tallies[measure.key] = read_tally(measure, self._slices.carried)
        return self._tallies[measure.key]

    def ranked(self, measure: MeasureProgram) -> RankedTally:
        """Return the tally of a measure with the values of every key numbered in order; that is done once."""
        if measure.key not in self._ranked:
            tally = self.tally(measure)
            self._ranked[measure.key] = rank_entries(tally.offsets, tally.codes, tally.numbers, self.offsets)
        return self._ranked[measure.key]

    def columns(self, measure: MeasureProgram) -> Columns:
        """Return the columns of a measure, made once."""
        if measure.key not in self._columns:
            rows = self._slices.rows[measure.key]
            valid = rows[:, VALID] != 0
            self._columns[measure.key] = Columns(_columns(measure.op, rows), None if valid.all() else valid)
        return self._columns[measure.key]

    def rows(self, measure: MeasureProgram) -> Rows:
        """Return a copy of a measure's rows."""
        return self._slices.rows[measure.key].copy()

    def carried(self, measure: MeasureProgram, name: str, index: pa.Array) -> pa.Array:
        """Return the values that some slices carry beside a measure."""
        return self._slices.carried[name].take(index)


class LevelColumns:
    """The columns of a tree that another one feeds."""

    def __init__(self, edges: Edges, feeder: TreeColumns) -> None:
        self._feeder = feeder
        self.keys = feeder.keys
        self.offsets, self.start, self._lo, self._hi = level_bounds(edges, feeder.offsets, feeder.start)
        self.ragged = count_ragged(self._lo, self._hi)
        self._columns: dict[str, Columns] = {}
        self._picked: dict[str, Ints] = {}

    @property
    def root(self) -> RootColumns:
        """The slices of the tree that feeds all."""
        return self._feeder.root

    def columns(self, measure: MeasureProgram) -> Columns:
        """Return the columns of a measure, folded once."""
        if measure.key not in self._columns:
            finer = self._feeder.columns(measure)
            self._columns[measure.key] = self._picks(measure, finer) if measure.carries else self._folds(measure, finer)
        return self._columns[measure.key]

    def rows(self, measure: MeasureProgram) -> Rows:
        """Return a measure's columns as rows."""
        return _rows(measure.op, self.columns(measure))

    def carried(self, measure: MeasureProgram, name: str, index: pa.Array) -> pa.Array:
        """Return the values that the picked finer slices carry."""
        self.columns(measure)
        return self._feeder.carried(measure, name, pa.array(self._picked[measure.key]).take(index))

    def _picks(self, measure: MeasureProgram, finer: Columns) -> Columns:
        index = pick_rows(measure.op, finer.columns[0], self._lo, self._hi, finer.valid)
        valid = index >= 0
        picked = self._picked[measure.key] = np.maximum(index, 0)
        return Columns((finer.columns[0][picked],), None if valid.all() else valid)

    def _folds(self, measure: MeasureProgram, finer: Columns) -> Columns:
        if measure.op in VALUE_COLUMNS:
            moments = fold_all_moments(measure.op, finer.columns, self._lo, self._hi, finer.valid)
            valid = moments[0] > 0
            return Columns(moments, None if valid.all() else valid)
        foldable = prepare(measure.op, finer.columns, finer.valid, len(finer.columns[0]))
        folds = [fold_between(op, column, self._lo, self._hi) for op, column in foldable.parts]
        if foldable.presence is None:
            return Columns(tuple(folds), None)
        return Columns(tuple(folds[:-1]), folds[-1] > 0)


def _columns(op: int, rows: Rows) -> tuple[Rows, ...]:
    if op in VALUE_COLUMNS:
        return tuple(rows[:, number] for number in VALUE_COLUMNS[op])
    if op == SUM_FLOAT:
        return (rows[:, 0] + rows[:, 1],)
    if op == SUM_INT:
        return np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1])
    return (np.ascontiguousarray(rows[:, 0]),)


def _rows(op: int, partials: Columns) -> Rows:
    rows = np.zeros((len(partials.columns[0]), width_of(op)), partials.columns[0].dtype)
    columns = partials.columns
    if op == SUM_INT:  # a row keeps its low limb below 2**32
        high, low = columns
        columns = (high + (low >> LIMB_BITS), low & LIMB_MASK)
    for number, column in zip(VALUE_COLUMNS.get(op, range(len(columns))), columns, strict=True):
        rows[:, number] = column
    rows[:, VALID] = 1 if partials.valid is None else partials.valid
    return rows


def count_ragged(lo: Ints, hi: Ints) -> int:
    """Count the bounds that do not follow the ones before them as those did, by a look at some of them; few are none.

    >>> lo = np.arange(2000)
    >>> count_ragged(lo, lo + 5), count_ragged(lo + lo % 2, lo + 5)  # steps of 2, 0, 2, 0, ...
    (0, 2000)
    """
    if len(lo) < FEW:
        return 0
    middle = slice(len(lo) // 2, len(lo) // 2 + SOME)
    by_lo, by_hi = (bounds[middle][1:] - bounds[middle][:-1] for bounds in (lo, hi))
    ragged = (by_lo[1:] != by_lo[:-1]) | (by_hi[1:] != by_hi[:-1])
    return round(len(lo) * np.count_nonzero(ragged) / len(ragged))


class Bounds(NamedTuple):
    """The windows of group g that end in (after[g], until[g]]."""

    after: Ints
    until: Ints

    def inside(self, group: Ints, end: Ints) -> Ints:
        """Return the places of the windows that end within the bounds of their group."""
        return np.flatnonzero((end > self.after[group]) & (end <= self.until[group]))

    @property
    def span(self) -> tuple[int, int]:
        """The windows of all groups end within this."""
        return int(self.after.min(initial=0)), int(self.until.max(initial=0))


@dataclass(frozen=True)
class NumberedRows:
    """The slices of the settled rows, which windows end, the rows later windows need, and how many came before them."""

    slices: Slices
    bounds: Bounds
    needed: pa.Table
    before: pa.Table


def dropped_label(label: str) -> str:
    """Name what state files call the numbers of rows that are kept no longer."""
    return f"{label}|before"


def number_rows(
    grouping: Grouping,
    tree: TreeProgram,
    retained: Sequence[pa.Table],
    incoming: Sequence[pa.Table],
    before: Sequence[pa.Table],
    emitted: int,
    until: int,
) -> NumberedRows:
    """Number the rows of every key. Those up to `until` are settled; those up to `emitted` were so already."""
    table = pa.concat_tables([*retained, *incoming], promote_options="permissive").combine_chunks()
    keys, dropped = _keys(grouping, table, before)
    groups, codes = keys.distinct.num_rows, keys.codes
    time = np.asarray(table["start"])
    order = _order(table, codes, time)
    first = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=groups))])[:-1]
    numbers = np.empty(len(codes), np.int64)
    numbers[order] = dropped[codes[order]] + np.arange(len(order)) - first[codes[order]]
    settled = time <= until
    earlier = settled & (time <= emitted) & (np.arange(len(time)) < sum(part.num_rows for part in retained))
    bounds = Bounds(
        dropped + np.bincount(codes[earlier], minlength=groups), dropped + np.bincount(codes[settled], minlength=groups)
    )
    counted = order[settled[order]]
    partials = partials_of(table.take(pa.array(counted)), grouping.columns, tree.measures)
    placed = partials._replace(
        codes=codes[counted], keys=keys.distinct, start=slice_starts(tree.edges, numbers[counted])
    )
    needed = ~settled | (numbers > bounds.until[codes] - tree.reach)
    total = dropped + np.bincount(codes[~needed], minlength=groups)
    return NumberedRows(merge(placed, tree.measures), bounds, table.filter(pa.array(needed)), _counts(keys, total))


def _keys(grouping: Grouping, table: pa.Table, before: Sequence[pa.Table]) -> tuple[Keys, Ints]:
    """Return the keys of the rows, and of every key how many rows are kept no longer."""
    names = list(grouping.columns)
    counts = [part.select([*names, COUNT]) for part in before]
    both = pa.concat_tables(
        [table.select(names), *(part.select(names) for part in counts)], promote_options="permissive"
    )
    keys = key_codes(both)
    dropped = np.zeros(keys.distinct.num_rows, np.int64)
    rows = table.num_rows
    for part in counts:
        dropped[keys.codes[rows : rows + part.num_rows]] += np.asarray(part[COUNT])
        rows += part.num_rows
    return Keys(keys.codes[: table.num_rows], keys.distinct), dropped


def _order(table: pa.Table, codes: Ints, time: Ints) -> Ints:
    file = table[FILE].combine_chunks()
    ranks = text_ranks(pa.concat_arrays(file.chunks) if isinstance(file, pa.ChunkedArray) else file)
    return np.lexsort((np.asarray(table[POSITION]), ranks, np.asarray(table[BATCH]), time, codes))


def _counts(keys: Keys, dropped: Ints) -> pa.Table:
    some = np.flatnonzero(dropped)
    distinct = keys.distinct.take(pa.array(some))
    columns = {name: distinct[name] for name in distinct.column_names}
    return pa.table({**columns, COUNT: pa.array(dropped[some])})
