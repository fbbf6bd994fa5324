"""A tree's slices in its bucket: from the batch's partials and the retained ones, or from the tree that feeds it.

A batch adds to the levels of a tree its slices, the chunks that close, and late partials of closed chunks. A chunk
closes when the watermark passes its end. It is folded once, of the next finer level. An event that comes after that
still counts in windows that have not ended, so its partial is added to every chunk above its slice that is closed
already: chunks are partials like others, and those of the same key and start are combined wherever they are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.finals.tree_columns import Bounds, LevelColumns, RootColumns, TreeColumns, dropped_label, number_rows
from jobs.engine.program.program import Grouping, TreeProgram
from jobs.engine.slices.exchange import chunk_label, label, merge_tables
from jobs.engine.slices.shards import TreeShards
from jobs.engine.slices.slices import Slices, fold_into, to_table
from jobs.engine.warehouse.state_files import ROWS, KeptTable, StateFiles, shelf_name
from jobs.kernels.arrays import Ints
from optimizer.plan.counters import (
    CHUNKED,
    LEVEL,
    LEVELLED,
    LOADED,
    MERGED,
    RAGGED,
    RAGGED_FOLD,
    SAVED,
    UNFOLDED,
)
from optimizer.plan.definition import EVENTS
from optimizer.plan.levels import Span, cover_windows, window_times

ROOMY = 8  # slices and chunks to a time at which a window starts or ends, from which on they are combined

Tables = Mapping[str, list[pa.Table]]  # by label
Counts = dict[str, int]


class TreeSlices(NamedTuple):
    """A tree's slices (and chunks, where no window starts or ends inside), and what the next batch needs."""

    slices: TreeColumns | None  # None: no window ends
    partials: int  # slices and chunks, of the state and of the batch, that are read for the windows that end
    folded: int  # combine operations
    counts: Counts  # by the names of optimizer/plan/counters.py
    added: dict[str, KeptTable]  # to the state, by label
    rows: dict[str, KeptTable]  # windows in rows: all that is kept, in place of what was
    bounds: Bounds | None = None  # None: those that the watermark passes, in every group


def gather(
    grouping: Grouping,
    tree: TreeProgram,
    slices_by_tree: Mapping[str, TreeSlices],
    state: StateFiles,
    incoming: Tables,
    clock: tuple[int, int],  # windows that end up to the first time are out already, those up to the second end now
) -> TreeSlices | None:
    """Gather the slices of a tree whose feeder has been gathered; None when there are none."""
    if tree.feed != EVENTS:
        feeder = slices_by_tree.get(tree.feed)
        return _level_of(tree, feeder.slices, feeder.bounds) if feeder and feeder.slices else None
    fresh = incoming.get(label(grouping, tree), [])
    if tree.rows:
        return _gather_rows(grouping, tree, state, fresh, clock)
    spans = cover_windows(tree.levels, tree.window_columns, *clock)
    levels = TreeLevels(grouping, tree, state, fresh, clock, spans)
    merged = levels.merge_cover() if levels.covers_no_new_chunk else None
    levels.add_chunks(merged)
    merged = merged or levels.merge_cover()
    added = levels.additions()
    saved = sum(addition.table.num_rows for addition in added.values())
    rows = {MERGED: levels.covered + levels.folded, LOADED: levels.loaded, SAVED: saved}
    counts = {name: count * len(tree.partial_measures) for name, count in rows.items()}
    counts[CHUNKED] = len(tree.levels) - 1 if merged else 0
    if not merged:
        return TreeSlices(None, 0, levels.folded, counts, added, {})
    slices, folds = _unfold(grouping, tree, merged)
    counts |= {UNFOLDED: folds} if tree.bits else {}
    return TreeSlices(slices, levels.covered, folds + levels.folded, counts, added, {})


def _unfold(grouping: Grouping, tree: TreeProgram, slices: Slices) -> tuple[RootColumns, int]:
    if not tree.bits:
        return RootColumns(slices), 0
    unfolded, folds = TreeShards(slices, grouping, tree).slices(tree.measures)
    return RootColumns(unfolded), folds


def _level_of(tree: TreeProgram, feeder: TreeColumns, bounds: Bounds | None) -> TreeSlices:
    level = LevelColumns(tree.edges, feeder)
    folds = len(feeder.start) * len(tree.measures)
    uneven = sum(measure.component != "count" for measure in tree.measures)
    counts = {LEVELLED: len(feeder.start), LEVEL: folds, RAGGED: level.ragged, RAGGED_FOLD: level.ragged * uneven}
    return TreeSlices(level, len(level.start), folds, counts, {}, {}, bounds)


def _gather_rows(
    grouping: Grouping, tree: TreeProgram, state: StateFiles, fresh: Sequence[pa.Table], clock: tuple[int, int]
) -> TreeSlices | None:
    name = label(grouping, tree)
    retained = state.read(name, ROWS)
    if not retained and not fresh:
        return None
    before = state.read(dropped_label(name), ROWS)
    numbered = number_rows(grouping, tree, retained, fresh, before, *clock)
    settled = int((numbered.bounds.until - numbered.bounds.after).sum())
    tables = {name: numbered.needed, dropped_label(name): numbered.before}
    rows = {label: KeptTable(table, tree.reach, ROWS) for label, table in tables.items()}
    folds = settled * len(tree.measures)
    loaded, new = (sum(table.num_rows for table in part) * len(tree.measures) for part in (retained, fresh))
    counts = {MERGED: loaded + new, LOADED: loaded, SAVED: new}
    return TreeSlices(RootColumns(numbered.slices), numbered.needed.num_rows, folds, counts, {}, rows, numbered.bounds)


class TreeLevels:
    """The levels of a tree in its bucket, those of earlier batches and what a batch adds to them."""

    def __init__(
        self,
        grouping: Grouping,
        tree: TreeProgram,
        state: StateFiles,
        incoming: Sequence[pa.Table],
        clock: Span,
        spans: Sequence[Sequence[Span]],  # by level, what the windows that end are read from
    ) -> None:
        self.grouping, self.tree, self.state, self.spans = grouping, tree, state, spans
        self.emitted, self.until = clock
        self.added: list[list[pa.Table]] = [[table for table in incoming if table.num_rows]]
        self.loaded = self.folded = self.covered = 0  # rows of the state, folded into chunks, read for windows
        for number in range(1, len(tree.levels)):
            self.added.append(self._late(number))

    @property
    def covers_no_new_chunk(self) -> bool:
        """Whether the windows that end are read from nothing that this batch adds but slices."""
        return not any(
            low < self._closing(number)[1] and self._closing(number)[0] < high
            for number, of_level in enumerate(self.spans)
            for low, high in of_level
            if number
        )

    def merge_cover(self) -> Slices | None:
        """Return the slices and chunks that the windows that end are read from; None when there are none."""
        tables = [table for number, spans in enumerate(self.spans) for table in self.read(number, spans)]
        self.covered = sum(table.num_rows for table in tables)
        return merge_tables(self.grouping, self.tree, tables, bounds=self._bounds()) if tables else None

    def _bounds(self) -> Ints | None:
        """Return the times between which chunks can be combined at once, where windows and closing chunks neither start
        nor end; None where no chunks are read, or so many windows end that this would not pay."""
        if not any(self.spans[1:]):
            return None
        times = window_times(self.tree.window_columns, self.emitted, self.until, self.covered // ROOMY)
        low, high = self._closing(1)
        if times is None or low >= high:
            return times
        return np.union1d(times, np.arange(low, high + 1, self.tree.levels[1].edges[0][0]))

    def _closing(self, number: int) -> Span:
        level = self.tree.levels[number]
        return level.floor(self.emitted), level.floor(self.until)

    def add_chunks(self, merged: Slices | None) -> None:
        """Fold the chunks that close in this batch, as far as these windows or later batches need them; slices that are
        merged for the windows already are not read once more."""
        needs = [level.since(self.until) for level in self.tree.levels]
        for number, of_level in enumerate(self.spans):
            needs[number] = min([needs[number], *(low for low, _ in of_level)])
        for number in range(1, len(self.tree.levels)):
            self.added[number] += self._fold_closing_chunks(number, min(needs[number:]), merged)

    def read(self, number: int, spans: Sequence[Span]) -> list[pa.Table]:
        """Return the slices or chunks of a level within some ascending spans."""
        if not spans:
            return []
        level = self.tree.levels[number]
        name = chunk_label(label(self.grouping, self.tree), level.edges, number)
        fresh = (within(table, spans) for table in self.added[number])
        retained = self.state.read(name, shelf_name(number, level.reach), spans)
        self.loaded += sum(table.num_rows for table in retained)
        return retained + [table for table in fresh if table.num_rows]

    def additions(self) -> dict[str, KeptTable]:
        """Return what the batch adds to the state."""
        name = label(self.grouping, self.tree)
        additions = {}
        for number, (level, tables) in enumerate(zip(self.tree.levels, self.added, strict=True)):
            if tables:
                table = pa.concat_tables(tables, promote_options="permissive")
                needed = since(table, level.since(self.until))
                additions[chunk_label(name, level.edges, number)] = KeptTable(
                    needed, level.reach, shelf_name(number, level.reach)
                )
        return additions

    def _late(self, number: int) -> list[pa.Table]:
        """Fold the batch's partials of chunks that were closed before it."""
        level = self.tree.levels[number]
        span = level.floor(level.since(self.emitted)), level.floor(self.emitted)
        return self._fold(number, [within(table, [span]) for table in self.added[0]])

    def _fold_closing_chunks(self, number: int, need: int, merged: Slices | None) -> list[pa.Table]:
        """Fold the chunks that close, of the next finer level."""
        level = self.tree.levels[number]
        low, high = self._closing(number)
        low = max(low, level.floor(need))
        if low >= high:
            return []
        if number == 1 and merged and any(first <= low and high <= end for first, end in self.spans[0]):
            self.folded += int(np.count_nonzero((merged.start >= low) & (merged.start < high)))
            return [to_table(fold_into(level.edges, merged, self.tree.partial_measures, (low, high)))]
        return self._fold(number, self.read(number - 1, [(low, high)]))

    def _fold(self, number: int, tables: Sequence[pa.Table]) -> list[pa.Table]:
        filled = [table for table in tables if table.num_rows]
        if not filled:
            return []
        self.folded += sum(table.num_rows for table in filled)
        edges = self.tree.levels[number].edges
        return [to_table(merge_tables(self.grouping, self.tree, filled, edges=edges))]


def within(table: pa.Table, spans: Sequence[Span]) -> pa.Table:
    """Return the rows that start within one of some ascending spans.

    >>> within(pa.table({"start": [10, 5, 0, 15]}), [(0, 5), (10, 15)])["start"].to_pylist()
    [10, 0]
    """
    start = np.asarray(table["start"])
    inside = np.zeros(len(start), np.bool_)
    for low, high in spans:
        inside |= (start >= low) & (start < high)
    return table if inside.all() else table.take(pa.array(np.flatnonzero(inside)))


def since(table: pa.Table, time: int) -> pa.Table:
    """Return the rows of a table that start at a time or later."""
    later = pc.greater_equal(table["start"], time)
    return table if pc.all(later).as_py() else table.filter(later)
