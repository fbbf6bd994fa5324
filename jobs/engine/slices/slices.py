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
from jobs.engine.program.program import MeasureProgram
from jobs.engine.slices.cells import Cells, cells_in_order, cells_of_starts, number_cells
from jobs.engine.slices.tallies import merge_tallies
from jobs.kernels.algebra.operators import VALID, WIDTH, width_of
from jobs.kernels.arrays import Ints, Rows
from jobs.kernels.slices.accumulate import fill_valid_rows, informative_columns, merge_rows
from jobs.kernels.slices.edges import slice_numbers, slice_starts
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
        """The group of every slice.

        >>> Slices(pa.table({"k": ["a", "b"]}), np.array([0, 1, 3]), np.array([0, 0, 10]), {}, {}).group.tolist()
        [0, 1, 1]
        """
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def since(self, time: int) -> Slices:
        """Return the slices that start at `time` or later.

        >>> slices = Slices(pa.table({"k": ["a", "b"]}), np.array([0, 1, 3]), np.array([0, 0, 10]), {}, {})
        >>> later = slices.since(5)
        >>> later.start.tolist(), later.offsets.tolist()
        ([10], [0, 0, 1])
        """
        later = self.start >= time
        return self if later.all() else self.take(np.flatnonzero(later))

    def take(self, positions: Ints) -> Slices:
        """Return the slices at some positions, in order.

        >>> slices = Slices(pa.table({"k": ["a", "b"]}), np.array([0, 1, 3]), np.array([0, 0, 10]), {}, {})
        >>> few = slices.take(np.array([0, 2]))
        >>> few.start.tolist(), few.offsets.tolist()
        ([0, 10], [0, 1, 2])
        """
        groups = len(self.offsets) - 1
        sizes = np.bincount(self.group[positions], minlength=groups)
        return Slices(
            self.keys,
            np.concatenate([[0], np.cumsum(sizes)]),
            self.start[positions],
            {key: rows[positions] for key, rows in self.rows.items()},
            {name: column.take(pa.array(positions)) for name, column in self.carried.items()},
        )


class Partials(NamedTuple):
    """Partials in any order: row i is of the key codes[i] (a row of `keys`) and the slice that starts at start[i]."""

    codes: Ints
    keys: pa.Table
    start: Ints
    rows: dict[str, Rows]
    carried: Mapping[str, pa.Array]


def merge(partials: Partials, measures: Sequence[MeasureProgram]) -> Slices:
    """Return slices from partials in any order: those of the same key and slice are combined into one.

    >>> from jobs.kernels.algebra.operators import MAX, lift
    >>> largest = MeasureProgram("max(x)", "max", MAX, "int64", "x", "", "")
    >>> keys, rows = pa.table({"k": ["a", "b"]}), {"max(x)": lift(MAX, np.array([3, 5, 4]))}
    >>> slices = merge(Partials(np.array([0, 1, 0]), keys, np.array([10, 0, 10]), rows, {}), [largest])
    >>> slices.offsets.tolist(), slices.start.tolist(), slices.rows["max(x)"][:, 0].tolist()
    ([0, 1, 2], [10, 0], [4, 5])
    """
    ordered = order_by_runs(partials)
    if ordered is None:
        return _combine(partials, cells_of_starts(partials.start, partials.codes, partials.keys.num_rows), measures)
    if _has_no_duplicates(ordered):
        return _slices_from_distinct(ordered, measures)
    return _combine(ordered, cells_in_order(ordered.start, ordered.codes), measures)


def _combine(
    partials: Partials, cells: Cells, measures: Sequence[MeasureProgram], places: Ints | None = None
) -> Slices:
    """Combine partials, those at some places or all, into the cells that each of them falls into."""
    rows: dict[str, Rows] = {}
    carried: dict[str, pa.Array] = {}
    everything = np.arange(len(cells.cell)) if places is None else places
    for measure in measures:
        unmerged = partials.rows[measure.key]
        if measure.carries:
            unmerged[:, 1] = np.arange(len(unmerged))
        rows[measure.key] = merge_rows(measure.op, unmerged, everything, cells.cell, len(cells.start))
        carried |= take_carried(measure, rows[measure.key], partials.carried)
        if measure.tally:
            carried |= merge_tallies(measure, partials.carried, places, cells.cell, len(cells.start))
    sizes = np.bincount(cells.code, minlength=partials.keys.num_rows)
    return Slices(partials.keys, np.concatenate([[0], np.cumsum(sizes)]), cells.start, rows, carried)


def order_by_runs(partials: Partials) -> Partials | None:
    """Return the partials key by key and in slice order, by moving whole runs of them; None where runs overlap.

    >>> keys = pa.table({"k": ["a"]})
    >>> partials = Partials(np.array([0, 0, 0, 0]), keys, np.array([20, 30, 0, 10]), {}, {})
    >>> ordered = order_by_runs(partials)
    >>> ordered.start.tolist() if ordered else None
    [0, 10, 20, 30]
    """
    codes, start = partials.codes, partials.start
    breaks = np.flatnonzero((codes[1:] != codes[:-1]) | (start[1:] < start[:-1])) + 1
    low, high = np.concatenate([[0], breaks]), np.concatenate([breaks, [len(start)]])
    if len(low) * RUN > len(start) + 1024:
        return None
    order = np.lexsort((start[low], codes[low])) if len(start) else np.arange(0)
    low, high = low[order], high[order]
    if np.any((codes[low[1:]] == codes[low[:-1]]) & (start[low[1:]] < start[high[:-1] - 1])):
        return None
    return partials if np.all(np.diff(order) == 1) else _move_runs(partials, list(zip(low, high, strict=True)))


def _move_runs(partials: Partials, runs: Sequence[tuple[int, int]]) -> Partials:
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


def _has_no_duplicates(ordered: Partials) -> bool:
    return not np.any((ordered.codes[1:] == ordered.codes[:-1]) & (ordered.start[1:] == ordered.start[:-1]))


def _slices_from_distinct(partials: Partials, measures: Sequence[MeasureProgram]) -> Slices:
    rows = {measure.key: partials.rows[measure.key] for measure in measures}
    carried = {name: partials.carried[name] for measure in measures for name in measure.columns}
    for measure in measures:
        if measure.carries:
            rows[measure.key][:, 1] = np.arange(len(partials.start))
    sizes = np.bincount(partials.codes, minlength=partials.keys.num_rows)
    return Slices(partials.keys, np.concatenate([[0], np.cumsum(sizes)]), partials.start, rows, carried)


def take_carried(measure: MeasureProgram, rows: Rows, columns: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """Return what selective rows carry along: the columns' values at the rows' positions (their second number).

    The rows are changed in place: their positions become 0, 1, 2, ..., those in the columns that are returned.

    >>> from jobs.kernels.algebra.operators import MAX, lift
    >>> rows = lift(MAX, np.array([9, 8]))
    >>> rows[:, 1] = [2, 0]
    >>> measure = MeasureProgram("max_by(s, x)", "argmax", MAX, "int64", "x", "s", "")
    >>> columns = take_carried(measure, rows, {"payload max_by(s, x)": pa.array(["a", "b", "c"])})
    >>> columns["payload max_by(s, x)"].to_pylist(), rows[:, 1].tolist()
    (['c', 'a'], [0, 1])
    """
    if not measure.carries:
        return {}
    position = pa.array(rows[:, 1].astype(np.int64))
    rows[:, 1] = np.arange(len(rows))
    return {name: columns[name].take(position) for name in measure.carries}


def fold_into(
    edges: Edges, finer: Slices, measures: Sequence[MeasureProgram], span: tuple[int, int] | None = None
) -> Slices:
    """Return the slices between coarser edges: of all finer slices, or of those that start within a span.

    >>> from jobs.kernels.algebra.operators import MAX, lift
    >>> largest = MeasureProgram("max(x)", "max", MAX, "int64", "x", "", "")
    >>> rows = {"max(x)": lift(MAX, np.array([3, 5, 4]))}
    >>> finer = Slices(pa.table({"k": ["a"]}), np.array([0, 3]), np.array([0, 10, 20]), rows, {})
    >>> coarser = fold_into(((20, 0),), finer, [largest])
    >>> coarser.start.tolist(), coarser.rows["max(x)"][:, 0].tolist()
    ([0, 20], [5, 4])
    >>> fold_into(((20, 0),), finer, [largest], (0, 20)).start.tolist()
    [0]
    """
    rows = {m.key: finer.rows[m.key].copy() if m.carries else finer.rows[m.key] for m in measures}
    partials = Partials(finer.group, finer.keys, finer.start, rows, finer.carried)
    if span is None:
        return _combine(partials, cells_in_order(slice_starts(edges, finer.start), partials.codes), measures)
    places = np.flatnonzero((finer.start >= span[0]) & (finer.start < span[1]))
    cells = cells_in_order(slice_starts(edges, finer.start[places]), partials.codes[places])
    return _combine(partials, cells, measures, places)


def to_table(slices: Slices, positions: Ints | None = None) -> pa.Table:
    """Return slices, or those at some positions, as a table: key, start, the columns of every measure, the payloads.

    >>> from jobs.kernels.algebra.operators import COUNT, lift
    >>> rows = {"count(x)": lift(COUNT, np.array([3, 5]))}
    >>> slices = Slices(pa.table({"key k": ["a"]}), np.array([0, 2]), np.array([0, 10]), rows, {})
    >>> to_table(slices, np.array([1])).to_pydict()
    {'key k': ['a'], 'start': [10], 'rows count(x) 0': [5]}
    """
    part = slices if positions is None else slices.take(positions)
    columns = _keys_of(part)
    columns["start"] = pa.array(part.start)
    for key, rows in part.rows.items():
        columns |= measure_columns(key, rows)
    return pa.table(columns | part.carried)


def measure_columns(key: str, rows: Rows) -> dict[str, pa.Array]:
    """Return a measure's rows as Arrow columns, without those that say nothing: zeros, or that no row is null.

    >>> from jobs.kernels.algebra.operators import COUNT, lift
    >>> pa.table(measure_columns("count(x)", lift(COUNT, np.array([3, 5])))).to_pydict()
    {'rows count(x) 0': [3, 5]}
    """
    informative = np.flatnonzero(informative_columns(rows)).tolist()
    return {_column_name(key, number): pa.array(np.ascontiguousarray(rows[:, number])) for number in (0, *informative)}


def measure_rows(columns: Mapping[str, pa.Array | pa.ChunkedArray], key: str, width: int = WIDTH) -> Rows:
    """Return a measure's rows from the columns that `measure_columns` made of them.

    >>> from jobs.kernels.algebra.operators import MAX, lift
    >>> rows = lift(MAX, np.array([3, 5]))
    >>> bool((measure_rows(measure_columns("max(x)", rows), "max(x)") == rows).all())
    True
    """
    first = to_array(columns[_column_name(key, 0)])
    rows = np.empty((len(first), width), first.type.to_pandas_dtype())
    fill_valid_rows(rows, first.to_numpy(zero_copy_only=False))
    for number in range(1, width):
        if _column_name(key, number) in columns:
            column = to_array(columns[_column_name(key, number)])
            rows[:, number] = pc.fill_null(column, int(number == VALID)) if column.null_count else column
    return rows


def _column_name(key: str, number: int) -> str:
    return f"rows {key} {number}"


def _keys_of(slices: Slices) -> dict[str, pa.Array]:
    """Return the key of every slice; keys without a slice are left out."""
    sizes = np.diff(slices.offsets)
    used = np.flatnonzero(sizes)
    index = np.repeat(np.arange(len(used)), sizes[used])
    keys = slices.keys.take(pa.array(used)).combine_chunks()
    return {name: dictionary_column(_column(keys, name), index) for name in keys.column_names}


def from_tables(
    tables: Iterable[pa.Table],
    names: Sequence[str],
    measures: Sequence[MeasureProgram],
    edges: Edges = (),
    bounds: Ints | None = None,
) -> Slices:
    """Return slices from tables of partials, in any order and number (at least one); with coarser edges, their chunks.

    With bounds, everything between two of these times is combined; none starts before the first.

    >>> from jobs.kernels.algebra.operators import MAX
    >>> largest = MeasureProgram("max(x)", "max", MAX, "int64", "x", "", "")
    >>> tables = [pa.table({"key k": ["a"], "start": [x], "rows max(x) 0": [x]}) for x in (3, 5, 7)]
    >>> from_tables(tables, ["key k"], [largest]).rows["max(x)"][:, 0].tolist()
    [3, 5, 7]
    >>> from_tables(tables, ["key k"], [largest], bounds=np.array([3, 6])).rows["max(x)"][:, 0].tolist()
    [5, 7]
    """
    table = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
    partials = partials_of(table, names, measures)
    if bounds is not None:
        number = slice_numbers(bounds, partials.start)
        return _combine(partials, number_cells(partials.codes, partials.keys.num_rows, number, bounds), measures)
    return merge(partials._replace(start=slice_starts(edges, partials.start)) if edges else partials, measures)


def join_tables(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the partials of several tables as one table, none of them combined.

    >>> tables = [pa.table({"key k": pa.array([k]).dictionary_encode(), "start": [0]}) for k in "ab"]
    >>> join_tables([tables[0], tables[1].slice(1)])["key k"].chunk(0).dictionary.to_pylist()
    ['a']
    """
    table = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
    for number, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):  # values that no row has any more would stay for ever
            used = drop_unused_keys(key_codes(table.select([number])))
            column = dictionary_column(_column(used.distinct, field.name), used.codes)
            table = table.set_column(number, field.name, column)
    return table


def partials_of(table: pa.Table, names: Sequence[str], measures: Sequence[MeasureProgram]) -> Partials:
    """Return the partials of a table, in the order of its rows.

    >>> from jobs.kernels.algebra.operators import MAX
    >>> largest = MeasureProgram("max(x)", "max", MAX, "int64", "x", "", "")
    >>> table = pa.table({"key k": ["b", "a", "b"], "start": [0, 0, 10], "rows max(x) 0": [7, 8, 9]})
    >>> partials = partials_of(table, ["key k"], [largest])
    >>> partials.codes.tolist(), partials.keys["key k"].to_pylist(), partials.start.tolist()
    ([0, 1, 0], ['b', 'a'], [0, 0, 10])
    """
    keys = drop_unused_keys(key_codes(table.select(list(names))))
    columns = dict(zip(table.column_names, table.columns, strict=True))  # once: a table makes its names anew each time
    rows: dict[str, Rows] = {}
    carried: dict[str, pa.Array] = {}
    for measure in measures:
        rows[measure.key] = measure_rows(columns, measure.key, width_of(measure.op))
        carried |= {name: to_array(columns[name]) for name in measure.columns}
        if measure.coding == "ranked":
            rows[measure.key][:, 0] = text_ranks(carried[f"order {measure.key}"])
    return Partials(keys.codes, keys.distinct, _column(table, "start").to_numpy(), rows, carried)


def _column(table: pa.Table, name: str) -> pa.Array:
    return to_array(table[name])
