"""What a bucket keeps for later batches: it adds a file, and now and then makes few files of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from jobs.engine.finals.gather import TreeSlices
from jobs.engine.program.program import Grouping, Program, TreeProgram
from jobs.engine.slices.exchange import chunk_label, label, merge_tables
from jobs.engine.slices.slices import Slices, fold_into, to_table
from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.warehouse.state_files import (
    ROWS,
    Kept,
    StateFiles,
    pays_to_rewrite,
    save_state,
    shelf_name,
    tidy_files,
)
from jobs.engine.work import Tally, Work, tally
from optimizer.plan.counts import REWRITTEN
from optimizer.plan.levels import Level


class LabelledLevel(NamedTuple):
    """A level of a tree that keeps state."""

    grouping: Grouping
    tree: TreeProgram
    number: int
    level: Level


def retain_slices(
    program: Program,
    work: Work,
    bucket: int,
    state: StateFiles,
    incoming: Mapping[str, list[pa.Table]],
    trees: Sequence[TreeSlices],
    done: Tally,
) -> list[DataFile]:
    """Return the bucket's state files after a batch; add to what was done what is written again."""
    added = {name: kept for tree in trees for name, kept in tree.added.items()}
    new = save_state(state.storage, work.batch, bucket, added)
    levels = labelled_levels(program)

    def merge(name: str, tables: list[pa.Table]) -> Kept:
        grouping, tree, number, level = levels[name]
        rows = sum(table.num_rows for table in tables)
        tally(done, tree.id, {REWRITTEN: rows * len(tree.partial_measures)})
        needed = merge_tables(grouping, tree, tables).since(level.since(work.until))
        table = to_table(needed) if number or not tree.kept_edges else _join_slices(tree, needed, work.until)
        return Kept(table, level.reach, shelf_name(number, level.reach))

    in_time = [file for file in state.files if file.shelf != ROWS]
    rest = StateFiles(state.storage, [*in_time, *new])
    return _retain_rows(work, bucket, state, incoming, trees) + tidy_files(rest, work.batch, bucket, work.until, merge)


def _join_slices(tree: TreeProgram, slices: Slices, until: int) -> pa.Table:
    """Return the slices of a tree cut by cutty: those before the watermark are joined up to its own edges, since
    the windows that end in between are out."""
    done = slices.take(np.flatnonzero(slices.start < until))
    joined = fold_into(tree.kept_edges, done, tree.partial_measures)
    return pa.concat_tables([to_table(joined), to_table(slices.since(until))], promote_options="permissive")


def labelled_levels(program: Program) -> dict[str, LabelledLevel]:
    """Return every level of the trees that keep state, by the label of its tables."""
    return {
        chunk_label(label(grouping, tree), level.edges, number): LabelledLevel(grouping, tree, number, level)
        for grouping, tree in program.roots()
        for number, level in enumerate(tree.levels)
    }


def _retain_rows(
    work: Work,
    bucket: int,
    state: StateFiles,
    incoming: Mapping[str, list[pa.Table]],
    trees: Sequence[TreeSlices],
) -> list[DataFile]:
    """Write all rows that windows in rows still need as a new base where that pays, else the batch's as a delta."""
    files = [file for file in state.files if file.shelf == ROWS]
    kept = {name: part for tree in trees for name, part in tree.rows.items()}
    new = {name: pa.concat_tables(incoming[name], promote_options="permissive") for name in kept if name in incoming}
    added, total = sum(table.num_rows for table in new.values()), sum(part.table.num_rows for part in kept.values())
    if not added and (not files or not pays_to_rewrite(files, 0, total)):
        return files
    if pays_to_rewrite(files, added, total):
        return save_state(state.storage, work.batch, bucket, kept, ROWS)
    delta = {name: Kept(table, 0, ROWS) for name, table in new.items()}
    return files + save_state(state.storage, work.batch, bucket, delta, ROWS)
