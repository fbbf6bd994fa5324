"""Rows with their numbers: a key's events in event time, ties by arrival. A row is settled by the watermark.

Clocks that count rows stand at another number for every key, so that other windows end: see `Bounds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from jobs.engine.events.columns import BATCH, FILE, POSITION, text_ranks
from jobs.engine.events.keys import Keys, key_codes
from jobs.engine.program.program import Grouping, TreeProgram
from jobs.engine.slices.slices import Slices, merge, partials_of
from jobs.kernels.arrays import Ints
from jobs.kernels.slices.edges import slice_starts

COUNT = "count"


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
