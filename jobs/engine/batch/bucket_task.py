"""What one task does for its bucket: the finals of a batch, or the slices of a new plan that takes over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from jobs.engine.finals.gather import within
from jobs.engine.finals.task import finish_bucket
from jobs.engine.finals.tree_columns import dropped_label, number_rows
from jobs.engine.program.program import Grouping, Program, TreeProgram
from jobs.engine.slices.exchange import chunk_label, label, merge_tables, unpack_parcels
from jobs.engine.slices.slices import to_table
from jobs.engine.warehouse.manifest import ENDLESS
from jobs.engine.warehouse.state_files import ROWS, KeptTable, StateFiles, save_by_shelf, shelf_name
from jobs.engine.work import BucketReport, Work
from jobs.host.kill_points import step
from jobs.host.storage import Storage
from optimizer.windows.window import BEGINNING


def run_bucket(program: Program, work: Work, bucket: int, contents: Iterable[bytes]) -> BucketReport:
    """Do the work of one bucket, whose parcels hold the contents."""
    if work.kind == "adopt":
        return adopt_bucket(program, work, bucket, contents)
    return finish_bucket(program, work, bucket, contents)


def adopt_bucket(program: Program, work: Work, bucket: int, contents: Iterable[bytes]) -> BucketReport:
    """Save the slices of a new plan: of the old slices that hold as much or more, or of the partials of raw events."""
    storage = Storage(work.root)
    retained = StateFiles(storage, [file for file in work.state if file.bucket == bucket]).all_tables()
    incoming = unpack_parcels(contents)
    slices: dict[str, KeptTable] = {}
    for grouping, tree in program.roots():
        name = label(grouping, tree)
        new = incoming.get(name)
        sources = [new or retained.get(source, []) for source in work.adopted_from.get(name, ("",) * len(tree.levels))]
        if tree.rows and sources[0]:
            (old,) = work.adopted_from.get(name, ("",))
            dropped = retained.get(dropped_label(old), [])
            numbered = number_rows(grouping, tree, [], sources[0], dropped, work.until, work.until)
            slices[name] = KeptTable(numbered.needed, tree.reach, ROWS)
            slices[dropped_label(name)] = KeptTable(numbered.before, tree.reach, ROWS)
        elif not tree.rows:
            slices |= _adopt_levels(grouping, tree, sources, work.until)
    report = BucketReport(state=save_by_shelf(storage, work.batch, bucket, slices))
    step("adopted")
    return report


def _adopt_levels(
    grouping: Grouping, tree: TreeProgram, sources: Sequence[list[pa.Table]], watermark: int
) -> dict[str, KeptTable]:
    """Fold the slices of a tree and its chunks that are closed, each level from tables that have its edges."""
    levels = {}
    for number, (level, tables) in enumerate(zip(tree.levels, sources, strict=True)):
        if tables:
            first, end = level.since(watermark), level.floor(watermark) if number else ENDLESS
            parts = [within(table, [(BEGINNING, end)]) for table in tables]
            slices = merge_tables(grouping, tree, parts, edges=level.edges).since(first)
            name = chunk_label(label(grouping, tree), level.edges, number)
            levels[name] = KeptTable(to_table(slices), level.reach, shelf_name(number, level.reach))
    return levels
