"""What one task does for its bucket when a new plan takes over: fold what is there into the new plan's slices."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa

from jobs.engine.finals.row_numbers import dropped_label, number
from jobs.engine.finals.task import finish_bucket
from jobs.engine.program.program import Program
from jobs.engine.slices.exchange import label, merge_tables, unpack_parcels
from jobs.engine.slices.slices import fold_into, to_table
from jobs.engine.warehouse import state_files as state
from jobs.engine.work import BucketReport, Work
from jobs.host.kill_points import step
from jobs.host.storage import Storage

BucketTask = Callable[[Program, Work, int, Iterable[bytes]], BucketReport]


def bucket_task(work: Work) -> BucketTask:
    """Finals in a batch; in between, the adoption of a plan."""
    return finish_bucket if work.kind == "batch" else adopt_bucket


def adopt_bucket(program: Program, work: Work, bucket: int, contents: Iterable[bytes]) -> BucketReport:
    """Slices of the new plan, from slices of the old one that hold more, or from the partials of raw events."""
    storage = Storage(work.root)
    retained = state.load_state(storage, [file for file in work.state if file.bucket == bucket])
    incoming = unpack_parcels(contents)
    kept: dict[str, pa.Table] = {}
    for grouping, tree in program.roots():
        name = label(grouping, tree)
        source = work.adopted_from.get(name, "")
        tables = incoming.get(name) or retained.get(source, [])
        if tree.rows and tables:
            found = number(grouping, tree, [], tables, retained.get(dropped_label(source), []), work.until, work.until)
            kept |= {name: found.kept, dropped_label(name): found.before}
        elif tables:
            folded = fold_into(tree.edges, merge_tables(grouping, tree, tables), tree.held)
            kept[name] = to_table(folded.since(work.until - tree.reach + 1))
    report = BucketReport(state=state.save_state(storage, work.batch, bucket, kept))
    step("adopted")
    return report
