"""A tree's slices in its bucket: from the batch's partials and the retained ones, or from the tree that feeds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from jobs.engine.finals.chunks import TreeLevels
from jobs.engine.finals.row_numbers import Bounds, dropped_label, number_rows
from jobs.engine.finals.tree_columns import LevelColumns, RootColumns, TreeColumns
from jobs.engine.program.program import Grouping, TreeProgram
from jobs.engine.slices.exchange import label, merge_tables
from jobs.engine.slices.shards import TreeShards
from jobs.engine.warehouse.state_files import ROWS, Kept, StateFiles
from optimizer.plan.counts import CHUNKED, LEVEL, LOADED, MERGED, SAVED, UNFOLDED
from optimizer.plan.definition import EVENTS
from optimizer.plan.levels import cover_windows

Tables = Mapping[str, list[pa.Table]]  # by label
Counts = dict[str, int]


class TreeSlices(NamedTuple):
    """A tree's slices (and chunks, where no window starts or ends inside), and what the next batch needs."""

    slices: TreeColumns | None  # None: no window ends
    partials: int  # slices and chunks, of the state and of the batch, that are read for the windows that end
    folded: int  # combine operations
    done: Counts  # by the names of optimizer/plan/counts.py
    added: dict[str, Kept]  # to the state, by label
    rows: dict[str, Kept]  # windows in rows: all that is kept, in place of what was
    bounds: Bounds | None = None  # None: those that the watermark passes, in every group


def gather(
    grouping: Grouping,
    tree: TreeProgram,
    done: Mapping[str, TreeSlices],
    state: StateFiles,
    incoming: Tables,
    clock: tuple[int, int],  # windows that end up to the first time are out already, those up to the second end now
) -> TreeSlices | None:
    """Gather the slices of a tree whose feeder is done; None when there are none."""
    if tree.feed != EVENTS:
        feeder = done.get(tree.feed)
        return _level_of(tree, feeder.slices, feeder.bounds) if feeder and feeder.slices else None
    fresh = incoming.get(label(grouping, tree), [])
    if tree.rows:
        return _gather_rows(grouping, tree, state, fresh, clock)
    levels = TreeLevels(grouping, tree, state, fresh, clock)
    spans = cover_windows(tree.levels, tree.window_columns, *clock)
    levels.add_chunks(spans)
    tables = [table for number, of_level in enumerate(spans) for table in levels.read(number, of_level)]
    added, partials = levels.kept(), sum(table.num_rows for table in tables)
    saved = sum(kept.table.num_rows for kept in added.values())
    rows = {MERGED: partials + levels.folded, LOADED: levels.loaded, SAVED: saved}
    counts = {name: count * len(tree.partial_measures) for name, count in rows.items()}
    counts[CHUNKED] = len(tree.levels) - 1 if tables else 0
    if not tables:
        return TreeSlices(None, 0, levels.folded, counts, added, {})
    slices, folds = _merge(grouping, tree, tables)
    counts |= {UNFOLDED: folds} if tree.bits else {}
    return TreeSlices(slices, partials, folds + levels.folded, counts, added, {})


def _merge(grouping: Grouping, tree: TreeProgram, tables: list[pa.Table]) -> tuple[RootColumns, int]:
    slices = merge_tables(grouping, tree, tables)
    if not tree.bits:
        return RootColumns(slices), 0
    unfolded, folds = TreeShards(slices, grouping, tree).slices(tree.measures)
    return RootColumns(unfolded), folds


def _level_of(tree: TreeProgram, feeder: TreeColumns, bounds: Bounds | None) -> TreeSlices:
    level = LevelColumns(tree.edges, feeder)
    folds = len(feeder.start) * len(tree.measures)
    return TreeSlices(level, len(level.start), folds, {LEVEL: folds}, {}, {}, bounds)


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
    rows = {label: Kept(table, tree.reach, ROWS) for label, table in tables.items()}
    folds = settled * len(tree.measures)
    loaded, new = (sum(table.num_rows for table in part) * len(tree.measures) for part in (retained, fresh))
    done = {MERGED: loaded + new, LOADED: loaded, SAVED: new}
    return TreeSlices(RootColumns(numbered.slices), numbered.needed.num_rows, folds, done, {}, rows, numbered.bounds)
