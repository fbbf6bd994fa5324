"""A tree's slices in its bucket: from the batch's partials and the retained ones, or from the tree that feeds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from jobs.engine.finals.bounds import Bounds
from jobs.engine.finals.row_numbers import dropped_label, number
from jobs.engine.finals.tree_columns import LevelColumns, RootColumns, TreeColumns
from jobs.engine.program.program import Grouping, TreeProgram
from jobs.engine.slices.exchange import hardly_overlap, label, merge_tables
from jobs.engine.slices.shards import TreeShards
from jobs.engine.slices.slices import Slices, to_table
from optimizer.plan.definition import EVENTS

Tables = Mapping[str, list[pa.Table]]  # by label


class Retained(NamedTuple):
    """Slices of which those are kept that start at some time or later."""

    slices: Slices
    since: int

    @property
    def num_rows(self) -> int:
        """How many these are."""
        return int(np.count_nonzero(self.slices.start >= self.since))

    def table(self) -> pa.Table:
        """These as a table."""
        return to_table(self.slices.since(self.since))


Kept = dict[str, Retained | pa.Table]


class Gathered(NamedTuple):
    """Slices, the partials they were made from and how often these were folded, what to keep, which windows end."""

    slices: TreeColumns | None  # None: no window ends
    partials: int
    folded: int
    kept: Kept
    bounds: Bounds | None = None  # None: those that the watermark passes, in every group


def gather(
    grouping: Grouping,
    tree: TreeProgram,
    done: Mapping[str, Gathered],
    retained: Tables,
    incoming: Tables,
    clock: tuple[int, int],  # windows that end up to the first time are out already, those up to the second end now
) -> Gathered | None:
    """The slices of a tree whose feeder is done; None when there are none. While no window ends, all stays as it is."""
    emitted, until = clock
    if tree.feed != EVENTS:
        feeder = done.get(tree.feed)
        return _fed(tree, feeder) if feeder and (until > emitted or feeder.bounds) else None
    name = label(grouping, tree)
    tables = retained.get(name, []) + incoming.get(name, [])
    if not tables:
        return None
    if tree.rows:
        before = retained.get(dropped_label(name), [])
        return _numbered(grouping, tree, retained.get(name, []), incoming.get(name, []), before, clock)
    if until <= emitted and hardly_overlap(tables):
        table = pa.concat_tables(tables, promote_options="permissive")
        return Gathered(None, table.num_rows, 0, {name: table})
    held = merge_tables(grouping, tree, tables).since(emitted - tree.reach + 1)
    kept: Kept = {name: Retained(held, until - tree.reach + 1)}
    if until <= emitted:
        return Gathered(None, len(held.start), 0, kept)
    if not tree.bits:
        return Gathered(RootColumns(held), len(held.start), 0, kept)
    slices, folded = TreeShards(held, grouping, tree).slices(tree.measures)
    return Gathered(RootColumns(slices), len(held.start), folded, kept)


def _fed(tree: TreeProgram, feeder: Gathered) -> Gathered:
    assert feeder.slices is not None
    level = LevelColumns(tree.edges, feeder.slices)
    folded = len(feeder.slices.start) * len(tree.measures)
    return Gathered(level, len(level.start), folded, {}, feeder.bounds)


def _numbered(
    grouping: Grouping,
    tree: TreeProgram,
    retained: list[pa.Table],
    incoming: list[pa.Table],
    before: list[pa.Table],
    clock: tuple[int, int],
) -> Gathered:
    found = number(grouping, tree, retained, incoming, before, *clock)
    settled = int((found.bounds.until - found.bounds.after).sum())
    name = label(grouping, tree)
    kept: Kept = {name: found.kept, dropped_label(name): found.before}
    return Gathered(RootColumns(found.slices), found.kept.num_rows, settled * len(tree.measures), kept, found.bounds)
