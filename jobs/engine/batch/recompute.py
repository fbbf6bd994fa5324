"""Windows of the past, evaluated anew: in a warehouse of their own, or in place of what a batch emitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jobs.engine.batch.run_batch import FOLDERS, joined_queries, manifest_after, results_of, run_tasks
from jobs.engine.program.program import Program
from jobs.engine.sources.files import File
from jobs.engine.warehouse import state_files
from jobs.engine.warehouse.consumed_files import PastBatch
from jobs.engine.warehouse.manifest import DataFile, Manifest, commit
from jobs.engine.work import Executors, Outcome, Work
from jobs.host.storage import Storage


@dataclass(frozen=True)
class PastEvents:
    """The files to read again: for windows in time those that matter, for windows in rows all from the first on."""

    files: Sequence[File]
    before: Sequence[PastBatch] = ()  # for windows in rows: the batches before, under the watermarks of their time
    own: Sequence[File] = ()  # for windows in rows: the files of the batch itself, which comes after them


def fill_warehouse(
    storage: Storage, before: Manifest, program: Program, until: int, events: PastEvents, executors: Executors
) -> Manifest:
    """Emit the windows that end up to a time, in a warehouse of their own that nothing is added to later."""
    work = Work(storage.root, 0, before.watermark, until, before.buckets, joined=joined_queries(storage, before))
    outcome = _recompute(storage, program, work, events, executors)
    after = replace(manifest_after(before, program, work, outcome), state=(), late=(), backfill=True)
    commit(storage, after)
    return after


def recompute_batch(
    storage: Storage,
    before: Manifest,
    program: Program,
    batch: int,
    span: tuple[int, int],
    events: PastEvents,
    executors: Executors,
) -> list[DataFile]:
    """Write the results of a batch of the past once more; what else its tasks write is swept away."""
    work = Work(storage.root, batch, *span, before.buckets, joined=joined_queries(storage, before))
    return results_of(_recompute(storage, program, work, events, executors))


def _recompute(storage: Storage, program: Program, work: Work, events: PastEvents, executors: Executors) -> Outcome:
    """Evaluate windows in time and windows in rows apart, since they read different events."""
    in_time = _with_trees(program, rows=False)
    in_rows = replace(_with_trees(program, rows=True), unshared=())
    outcome = Outcome()
    if in_time.groupings or in_time.unshared:
        outcome = run_tasks(storage, in_time, work, executors.execute(events.files), FOLDERS)
    if not in_rows.groupings:
        return outcome
    rows = _recompute_rows(storage, in_rows, work, events, executors)
    # both read the events of the batch, which are counted once
    return replace(outcome, feeds=outcome.feeds or rows.feeds, buckets=outcome.buckets + rows.buckets)


def _recompute_rows(
    storage: Storage, program: Program, work: Work, events: PastEvents, executors: Executors
) -> Outcome:
    """Count the rows up to the first window, as when a plan takes over; then number those that settle."""
    count = replace(work, until=work.emitted, kind="adopt")
    counted = run_tasks(storage, program, count, executors.replay(events.before), (state_files.FOLDER,))
    state = tuple(file for report in counted.buckets for file in report.state)
    numbered = run_tasks(storage, program, replace(work, state=state), executors.execute(events.own), FOLDERS)
    return replace(numbered, feeds=counted.feeds + numbered.feeds)


def _with_trees(program: Program, rows: bool) -> Program:
    """Return the program with its windows in rows alone, or with its windows in time alone."""
    groupings = [replace(g, trees=tuple(tree for tree in g.trees if tree.rows == rows)) for g in program.groupings]
    return replace(program, groupings=tuple(grouping for grouping in groupings if grouping.trees))
