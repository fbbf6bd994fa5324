"""What one task does for its bucket: the finals of a batch, or the slices of a new plan that takes over."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from jobs.engine.finals.row_numbers import dropped_label, number_rows
from jobs.engine.finals.task import finish_bucket
from jobs.engine.program.program import Program
from jobs.engine.slices.exchange import label, merge_tables, unpack_parcels
from jobs.engine.slices.slices import fold_into, to_table
from jobs.engine.warehouse.state_files import load_state, save_state
from jobs.engine.work import BucketReport, Work
from jobs.host.kill_points import step
from jobs.host.storage import Storage


def run_bucket(program: Program, work: Work, bucket: int, contents: Iterable[bytes]) -> BucketReport:
    """Do the work of one bucket, whose parcels hold the contents."""
    if work.kind == "adopt":
        return adopt_bucket(program, work, bucket, contents)
    return finish_bucket(program, work, bucket, contents)


def adopt_bucket(program: Program, work: Work, bucket: int, contents: Iterable[bytes]) -> BucketReport:
    """Save the slices of a new plan: of the old slices that hold as much or more, or of the partials of raw events."""
    storage = Storage(work.root)
    retained = load_state(storage, [file for file in work.state if file.bucket == bucket])
    incoming = unpack_parcels(contents)
    slices: dict[str, pa.Table] = {}
    for grouping, tree in program.roots():
        name = label(grouping, tree)
        source = work.adopted_from.get(name, "")
        tables = incoming.get(name) or retained.get(source, [])
        if tree.rows and tables:
            dropped = retained.get(dropped_label(source), [])
            numbered = number_rows(grouping, tree, [], tables, dropped, work.until, work.until)
            slices |= {name: numbered.needed, dropped_label(name): numbered.before}
        elif tables:
            folded = fold_into(tree.edges, merge_tables(grouping, tree, tables), tree.partial_measures)
            slices[name] = to_table(folded.since(work.until - tree.reach + 1))
    report = BucketReport(state=save_state(storage, work.batch, bucket, slices))
    step("adopted")
    return report
