"""The slices of one tree: for every key, in slice order, the partials of all its measures side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.arrow import to_array
from jobs.engine.events.columns import text_ranks
from jobs.engine.events.keys import dictionary_column, drop_unused_keys, key_codes
from jobs.engine.program.program import MeasureProgram, key_column
from jobs.engine.slices.cells import Cells, cells_in_order, cells_of_starts
from jobs.kernels.algebra.operators import VALID, WIDTH
from jobs.kernels.arrays import Ints, Rows
from jobs.kernels.slices.combine import fill, merge_rows, telling
from jobs.kernels.slices.edges import slice_starts
from optimizer.windows.edges import Edges

RUN = 16  # partials in a run, on average, that make it worth moving as a whole


@dataclass(frozen=True)
class Slices:
    """Group g (row g of `keys`) owns the slices offsets[g]..offsets[g + 1]; row i of every measure is slice i's."""

    keys: pa.Table
    offsets: Ints
    start: Ints
    rows: dict[str, Rows]
    carried: dict[str, pa.Array]

    @property
    def group(self) -> Ints:
        """The group of every slice."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def since(self, time: int) -> Slices:
        """The slices that start at `time` or later."""
        kept = self.start >= time
        return self if kept.all() else self._take(np.flatnonzero(kept))

    def _take(self, kept: Ints) -> Slices:
        groups = len(self.offsets) - 1
        sizes = np.bincount(self.group[kept], minlength=groups)
        return Slices(
            self.keys,
            np.concatenate([[0], np.cumsum(sizes)]),
            self.start[kept],
            {key: rows[kept] for key, rows in self.rows.items()},
            {name: column.take(pa.array(kept)) for name, column in self.carried.items()},
        )


class Partials(NamedTuple):
    """Partials in any order: row i is of the key codes[i] (a row of `keys`) and the slice that starts at start[i]."""

    codes: Ints
    keys: pa.Table
    start: Ints
    rows: dict[str, Rows]
    carried: Mapping[str, pa.Array]


def merge(partials: Partials, measures: Sequence[MeasureProgram]) -> Slices:
    """Slices from partials in any order: those of the same key and slice are combined into one."""
    ordered = order_by_runs(partials)
    if ordered is None:
        return _combined(partials, cells_of_starts(partials.start, partials.codes, partials.keys.num_rows), measures)
    if _none_twice(ordered):
        return _as_they_are(ordered, measures)
    return _combined(ordered, cells_in_order(ordered.start, ordered.codes), measures)


def _combined(partials: Partials, cells: Cells, measures: Sequence[MeasureProgram]) -> Slices:
    everything = np.arange(len(cells.cell))
    rows: dict[str, Rows] = {}
    carried: dict[str, pa.Array] = {}
    for measure in measures:
        held = partials.rows[measure.key]
        if measure.carries:
            held[:, 1] = everything
        rows[measure.key] = merge_rows(measure.op, held, everything, cells.cell, len(cells.start))
        carried |= take_carried(measure, rows[measure.key], partials.carried)
    sizes = np.bincount(cells.code, minlength=partials.keys.num_rows)
    return Slices(partials.keys, np.concatenate([[0], np.cumsum(sizes)]), cells.start, rows, carried)


def order_by_runs(partials: Partials) -> Partials | None:
    """The same partials key by key and in slice order, by moving whole runs of them; None where runs overlap."""
    codes, start = partials.codes, partials.start
    breaks = np.flatnonzero((codes[1:] != codes[:-1]) | (start[1:] < start[:-1])) + 1
    low, high = np.concatenate([[0], breaks]), np.concatenate([breaks, [len(start)]])
    if len(low) * RUN > len(start) + 1024:
        return None
    order = np.lexsort((start[low], codes[low])) if len(start) else np.arange(0)
    low, high = low[order], high[order]
    if np.any((codes[low[1:]] == codes[low[:-1]]) & (start[low[1:]] < start[high[:-1] - 1])):
        return None
    return partials if np.all(np.diff(order) == 1) else _moved(partials, list(zip(low, high, strict=True)))


def _moved(partials: Partials, runs: Sequence[tuple[int, int]]) -> Partials:
    def move(column: Rows) -> Rows:
        return np.concatenate([column[low:high] for low, high in runs])

    return Partials(
        move(partials.codes),
        partials.keys,
        move(partials.start),
        {key: move(rows) for key, rows in partials.rows.items()},
        {
            name: pa.concat_arrays([column.slice(low, high - low) for low, high in runs])
            for name, column in partials.carried.items()
        },
    )


def _none_twice(ordered: Partials) -> bool:
    return not np.any((ordered.codes[1:] == ordered.codes[:-1]) & (ordered.start[1:] == ordered.start[:-1]))


def _as_they_are(partials: Partials, measures: Sequence[MeasureProgram]) -> Slices:
    rows = {measure.key: partials.rows[measure.key] for measure in measures}
    carried = {name: partials.carried[name] for measure in measures for name in measure.carries}
    for measure in measures:
        if measure.carries:
            rows[measure.key][:, 1] = np.arange(len(partials.start))
    sizes = np.bincount(partials.codes, minlength=partials.keys.num_rows)
    return Slices(partials.keys, np.concatenate([[0], np.cumsum(sizes)]), partials.start, rows, carried)


def take_carried(measure: MeasureProgram, rows: Rows, columns: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """What selective rows carry along: the column's values at the rows' positions, which then become 0, 1, 2, ..."""
    if not measure.carries:
        return {}
    position = pa.array(rows[:, 1].astype(np.int64))
    rows[:, 1] = np.arange(len(rows))
    return {name: columns[name].take(position) for name in measure.carries}


def fold_into(edges: Edges, parent: Slices, measures: Sequence[MeasureProgram]) -> Slices:
    """A tree's slices from the partials of the tree that feeds it."""
    rows = {m.key: parent.rows[m.key].copy() if m.carries else parent.rows[m.key] for m in measures}
    starts = slice_starts(edges, parent.start)
    partials = Partials(parent.group, parent.keys, starts, rows, parent.carried)
    return _combined(partials, cells_in_order(starts, partials.codes), measures)


def to_table(slices: Slices, kept: Ints | None = None) -> pa.Table:
    """Slices as an Arrow table: the key's columns, the slice's start, the columns of every measure, the payloads."""
    chosen = slices if kept is None else slices._take(kept)
    columns = _keys_of(chosen)
    columns["start"] = pa.array(chosen.start)
    for key, rows in chosen.rows.items():
        columns |= measure_columns(key, rows)
    return pa.table(columns | chosen.carried)


def measure_columns(key: str, rows: Rows) -> dict[str, pa.Array]:
    """A measure's rows as Arrow columns. Those that say nothing are left out: zeros, or that no row is null."""
    told = np.flatnonzero(telling(rows)).tolist()
    return {_named(key, number): pa.array(np.ascontiguousarray(rows[:, number])) for number in (0, *told)}


def measure_rows(table: pa.Table, key: str) -> Rows:
    """A measure's rows, back from the columns that are there."""
    first = _column(table, _named(key, 0))
    rows = np.empty((len(first), WIDTH), first.type.to_pandas_dtype())
    fill(rows, first.to_numpy(zero_copy_only=False))
    for number in range(1, WIDTH):
        if _named(key, number) in table.column_names:
            column = _column(table, _named(key, number))
            rows[:, number] = pc.fill_null(column, int(number == VALID)) if column.null_count else column
    return rows


def _named(key: str, number: int) -> str:
    return f"rows {key} {number}"


def _keys_of(slices: Slices) -> dict[str, pa.Array]:
    """The key of every slice; keys without a slice are forgotten."""
    sizes = np.diff(slices.offsets)
    used = np.flatnonzero(sizes)
    index = np.repeat(np.arange(len(used)), sizes[used])
    keys = slices.keys.take(pa.array(used)).combine_chunks()
    return {key_column(name): dictionary_column(_column(keys, name), index) for name in keys.column_names}


def from_tables(tables: Iterable[pa.Table], names: Sequence[str], measures: Sequence[MeasureProgram]) -> Slices:
    """Slices from tables of partials, in any order and number (at least one)."""
    table = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
    return merge(partials_of(table, names, measures), measures)


def partials_of(table: pa.Table, names: Sequence[str], measures: Sequence[MeasureProgram]) -> Partials:
    """The partials of a table, as they stand in it."""
    keys = drop_unused_keys(key_codes(table.select([key_column(name) for name in names]).rename_columns(list(names))))
    rows: dict[str, Rows] = {}
    carried: dict[str, pa.Array] = {}
    for measure in measures:
        rows[measure.key] = measure_rows(table, measure.key)
        carried |= {name: _column(table, name) for name in measure.carries}
        if measure.coding == "text":
            rows[measure.key][:, 0] = text_ranks(carried[f"order {measure.key}"])
    return Partials(keys.codes, keys.distinct, _column(table, "start").to_numpy(), rows, carried)


def _column(table: pa.Table, name: str) -> pa.Array:
    return to_array(table[name])
