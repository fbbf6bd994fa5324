"""A tree's slices in its bucket: from the batch's partials and the retained ones, or from the tree that feeds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from jobs.engine.finals.row_numbers import Bounds, dropped_label, number_rows
from jobs.engine.finals.tree_columns import LevelColumns, RootColumns, TreeColumns
from jobs.engine.program.program import Grouping, TreeProgram
from jobs.engine.slices.exchange import hardly_overlap, label, merge_tables
from jobs.engine.slices.shards import TreeShards
from jobs.engine.slices.slices import Slices, to_table
from optimizer.plan.definition import EVENTS

Tables = Mapping[str, list[pa.Table]]  # by label


class KeptSlices(NamedTuple):
    """Slices of which the next batch needs those that start at some time or later."""

    slices: Slices
    since: int

    @property
    def num_rows(self) -> int:
        """The number of slices that are needed."""
        return int(np.count_nonzero(self.slices.start >= self.since))

    def table(self) -> pa.Table:
        """Return the slices that are needed as a table."""
        return to_table(self.slices.since(self.since))


NextState = dict[str, KeptSlices | pa.Table]  # by label


class TreeSlices(NamedTuple):
    """A tree's slices, how many partials they were made from, what the next batch needs, and which windows end."""

    slices: TreeColumns | None  # None: no window ends
    partials: int
    folded: int  # combine operations
    next_state: NextState
    bounds: Bounds | None = None  # None: those that the watermark passes, in every group


def gather(
    grouping: Grouping,
    tree: TreeProgram,
    done: Mapping[str, TreeSlices],
    retained: Tables,
    incoming: Tables,
    clock: tuple[int, int],  # windows that end up to the first time are out already, those up to the second end now
) -> TreeSlices | None:
    """Gather the slices of a tree whose feeder is done; None when there are none."""
    emitted, until = clock
    if tree.feed != EVENTS:
        feeder = done.get(tree.feed)
        return _level_of(tree, feeder) if feeder and (until > emitted or feeder.bounds) else None
    name = label(grouping, tree)
    tables = retained.get(name, []) + incoming.get(name, [])
    if not tables:
        return None
    if tree.rows:
        before = retained.get(dropped_label(name), [])
        return _gather_rows(grouping, tree, retained.get(name, []), incoming.get(name, []), before, clock)
    if until <= emitted and hardly_overlap(tables):
        table = pa.concat_tables(tables, promote_options="permissive")
        return TreeSlices(None, table.num_rows, 0, {name: table})
    slices = merge_tables(grouping, tree, tables).since(emitted - tree.reach + 1)
    next_state: NextState = {name: KeptSlices(slices, until - tree.reach + 1)}
    if until <= emitted:
        return TreeSlices(None, len(slices.start), 0, next_state)
    if not tree.bits:
        return TreeSlices(RootColumns(slices), len(slices.start), 0, next_state)
    unfolded, folds = TreeShards(slices, grouping, tree).slices(tree.measures)
    return TreeSlices(RootColumns(unfolded), len(slices.start), folds, next_state)


def _level_of(tree: TreeProgram, feeder: TreeSlices) -> TreeSlices:
    assert feeder.slices is not None
    level = LevelColumns(tree.edges, feeder.slices)
    folded = len(feeder.slices.start) * len(tree.measures)
    return TreeSlices(level, len(level.start), folded, {}, feeder.bounds)


def _gather_rows(
    grouping: Grouping,
    tree: TreeProgram,
    retained: list[pa.Table],
    incoming: list[pa.Table],
    before: list[pa.Table],
    clock: tuple[int, int],
) -> TreeSlices:
    numbered = number_rows(grouping, tree, retained, incoming, before, *clock)
    settled = int((numbered.bounds.until - numbered.bounds.after).sum())
    name = label(grouping, tree)
    next_state: NextState = {name: numbered.needed, dropped_label(name): numbered.before}
    folds = settled * len(tree.measures)
    return TreeSlices(RootColumns(numbered.slices), numbered.needed.num_rows, folds, next_state, numbered.bounds)
