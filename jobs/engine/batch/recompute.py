"""Windows of the past, evaluated again: in a warehouse of their own, or in place of what a batch emitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jobs.engine.batch.run_batch import FOLDERS, after_batch, executed, joined_by, results_of
from jobs.engine.program.program import Program
from jobs.engine.warehouse import state_files as state
from jobs.engine.warehouse.input_files import File
from jobs.engine.warehouse.manifest import DataFile, Manifest, commit
from jobs.engine.warehouse.raw_events import Replayed
from jobs.engine.work import Executors, Outcome, Work
from jobs.host.storage import Storage


@dataclass(frozen=True)
class Events:
    """The events of the past that are taken in: those of windows in time, and for those in rows all from the first."""

    files: Sequence[File]
    replayed: Sequence[Replayed] = ()  # under the watermarks of their time
    own: Sequence[File] = ()  # of the batch itself, which comes after them


def fill(
    storage: Storage, before: Manifest, program: Program, until: int, events: Events, executors: Executors
) -> Manifest:
    """Emit the windows that end up to a time, in a warehouse of their own that nothing is added to later."""
    work = Work(storage.root, 0, before.watermark, until, before.buckets, joined=joined_by(storage, before))
    outcome = _again(storage, program, work, events, executors)
    after = replace(after_batch(before, program, work, outcome), state=(), late=(), backfill=True)
    commit(storage, after)
    return after


def emit_again(
    storage: Storage,
    before: Manifest,
    program: Program,
    batch: int,
    span: tuple[int, int],
    events: Events,
    executors: Executors,
) -> list[DataFile]:
    """The results of a batch of the past, once more; what else its tasks write is swept away."""
    work = Work(storage.root, batch, *span, before.buckets, joined=joined_by(storage, before))
    return results_of(_again(storage, program, work, events, executors))


def _again(storage: Storage, program: Program, work: Work, events: Events, executors: Executors) -> Outcome:
    timed, numbered = _only(program, rows=False), replace(_only(program, rows=True), unshared=())
    outcome = Outcome()
    if timed.groupings or timed.unshared:
        outcome = executed(storage, timed, work, executors.execute(events.files), FOLDERS)
    if numbered.groupings:
        _number(storage, numbered, work, events, executors, outcome)
    return outcome


def _number(
    storage: Storage, program: Program, work: Work, events: Events, executors: Executors, outcome: Outcome
) -> None:
    """Rows are counted up to the windows' first, as when a plan takes over; then those that settle are numbered."""
    until_then = replace(work, until=work.emitted, kind="adopt")
    before = executed(storage, program, until_then, executors.replay(events.replayed), (state.FOLDER,))
    held = tuple(file for report in before.buckets for file in report.state)
    found = executed(storage, program, replace(work, state=held), executors.execute(events.own), FOLDERS)
    outcome.feeds = outcome.feeds or [*before.feeds, *found.feeds]
    outcome.buckets += found.buckets


def _only(program: Program, rows: bool) -> Program:
    """The program with its windows in rows, or without them."""
    groupings = [replace(g, trees=tuple(tree for tree in g.trees if tree.rows == rows)) for g in program.groupings]
    return replace(program, groupings=tuple(grouping for grouping in groupings if grouping.trees))
