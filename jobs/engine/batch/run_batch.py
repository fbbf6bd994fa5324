"""One micro-batch: give out the work, gather the reports, commit one manifest.

Late events have the emitted windows that they belong to answered once more, from raw events: corrections. Windows of
the past are evaluated anew in a warehouse of their own, or in place of what a batch emitted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jobs.engine.batch.carry import retained_from_start
from jobs.engine.program.program import Program
from jobs.engine.sources.contract import File
from jobs.engine.warehouse import result_files, state_files
from jobs.engine.warehouse.consumed_files import PastBatch, RawEvents
from jobs.engine.warehouse.ledger import newest_ledger
from jobs.engine.warehouse.manifest import ENDLESS, DataFile, Manifest, Mark, add_mark, commit
from jobs.engine.warehouse.outbox import mergeable_files
from jobs.engine.warehouse.state_files import load_retained, save_retained
from jobs.engine.work import Executor, Executors, Outcome, Work, add_tallies, add_up
from jobs.host.say import Say, silent
from jobs.host.stops import step
from jobs.host.storage import Storage, in_a_line
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING

FOLDERS = (result_files.FOLDER, result_files.LATE_FOLDER, state_files.FOLDER)


def run_batch(
    storage: Storage,
    before: Manifest,
    program: Program,
    batch: int,
    execute: Executor,
    last: bool = False,
    corrections: Corrections | None = None,
) -> Manifest:
    """Evaluate a batch of events. Windows end by the watermark of the batches before it, as in Spark; in the last batch
    of a run, those that would be left to `close` end at once. Late events correct emitted windows."""
    return _run(storage, before, program, batch, watermark(before, program), execute, last, corrections)


def close(storage: Storage, before: Manifest, program: Program, execute: Executor) -> Manifest:
    """Emit what the last batch's events let end, as Spark's batch without data does at the end of a run."""
    until = watermark(before, program)
    return _run(storage, before, program, before.batch, until, execute) if until > before.watermark else before


def results_of(outcome: Outcome) -> list[DataFile]:
    """Return the result files of all tasks."""
    woven = [file for report in outcome.buckets for file in report.results]
    return woven + [file for files in outcome.unshared.values() for file in files]


def commit_empty_batch(storage: Storage, before: Manifest, batch: int) -> Manifest:
    """Commit a batch that brought nothing."""
    after = replace(
        before,
        sequence=before.sequence + 1,
        batch=batch,
        counts=counts_of(Outcome(), [], []),
        marks=add_mark(before.marks, Mark(batch, before.latest, before.watermark)),
    )
    commit(storage, after)
    return after


def watermark(manifest: Manifest, program: Program) -> int:
    """Return the latest event time less the allowed lateness; it never goes back."""
    if manifest.latest == BEGINNING:
        return manifest.watermark
    return max(manifest.watermark, manifest.latest - program.lateness)


def _run(
    storage: Storage,
    before: Manifest,
    program: Program,
    batch: int,
    until: int,
    execute: Executor,
    last: bool = False,
    corrections: Corrections | None = None,
) -> Manifest:
    public = mergeable_files(storage, newest_ledger(storage).public(before.results))
    if not before.standing:
        before = replace(before, standing=save_retained(storage, retained_from_start(program)))
    work = Work(
        storage.root,
        batch,
        emitted=before.watermark,
        until=until,
        buckets=before.buckets,
        is_last=last,
        lateness=program.lateness,
        state=before.state,
        results=public,
        late=before.late,
        joined=joined_queries(storage, before),
    )
    if corrections:
        work, outcome = corrections.evaluate(storage, before, program, work, execute)
    else:
        outcome = run_tasks(storage, program, work, execute, FOLDERS)
    step("collected")
    after = manifest_after(before, program, work.with_latest(outcome.latest), outcome)
    started = time.process_time()
    commit(storage, after)
    seconds = after.counts["seconds"] | {"commit": time.process_time() - started}
    step("committed")
    return replace(after, counts=after.counts | {"seconds": seconds})  # for the report; the file is written already


def joined_queries(storage: Storage, manifest: Manifest) -> dict[str, int]:
    """Return the queries that were not there from the beginning, with the time after which they are answered."""
    return load_retained(storage, manifest.standing).joined


def run_tasks(storage: Storage, program: Program, work: Work, execute: Executor, folders: Sequence[str]) -> Outcome:
    """Let the tasks of a batch do its work and return what they report, or raise the first of their errors."""
    try:
        for folder in folders:
            storage.make_folder(folder)
        outcome = execute(program, work)
    except ConnectionError:  # of the driver with Spark's Java process: whoever knows Spark finds the words
        raise
    except OSError as error:
        raise HeddleError(in_a_line(error)) from None
    if outcome.errors:
        raise HeddleError(outcome.errors[0])
    return outcome


def manifest_after(before: Manifest, program: Program, work: Work, outcome: Outcome) -> Manifest:
    """Return the manifest of a batch."""
    replaced = {file.name for report in outcome.buckets for file in report.merged}
    results = results_of(outcome)
    late = [file for report in outcome.feeds for file in report.late]
    merged_late = [file for report in outcome.buckets for file in report.late]
    latest = max(before.latest, outcome.latest)
    return replace(
        before,
        sequence=before.sequence + 1,
        batch=work.batch,
        watermark=work.until,
        latest=latest,
        plan=program.fingerprint,
        results=tuple(file for file in (*before.results, *results, *outcome.revisions) if file.name not in replaced),
        state=tuple(file for report in outcome.buckets for file in report.state),
        late=tuple(file for file in (*before.late, *merged_late, *late) if file.name not in replaced),
        types=before.types | {sql: str(kind) for sql, kind in program.kept_types.items()},
        counts=counts_of(outcome, [file for file in results if not file.tier], late),
        marks=add_mark(before.marks, Mark(work.batch, latest, work.until)),
        corrected_after=_corrected_after(before, program, work),
    )


def _corrected_after(before: Manifest, program: Program, work: Work) -> int | None:
    if work.corrected_after is not None:
        return work.corrected_after
    return before.corrected_after if program.corrections else None


def counts_of(outcome: Outcome, results: Sequence[DataFile], late: Sequence[DataFile]) -> dict[str, Any]:
    """Return what a batch counted, for the manifest and the report."""
    revisions = {"revisions": sum(file.rows for file in outcome.revisions)} if outcome.revisions else {}
    return revisions | {
        "events": sum(report.events for report in outcome.feeds),
        "without_time": sum(report.without_time for report in outcome.feeds),
        "results": sum(file.rows for file in results),
        "late": sum(file.rows for file in late),
        "windows_missed": sum(report.windows_missed for report in outcome.feeds),
        "partials": add_up(report.partials for report in outcome.buckets),
        "operations": add_up([r.operations for r in outcome.feeds] + [r.operations for r in outcome.buckets]),
        "done": add_tallies([r.counts for r in outcome.feeds] + [r.counts for r in outcome.buckets]),
        "seconds": add_up(
            [r.seconds for r in outcome.feeds] + [r.seconds for r in outcome.buckets] + [outcome.seconds]
        ),
        "unshared": {query: sum(file.rows for file in files) for query, files in outcome.unshared.items()},
    }


@dataclass(frozen=True)
class Corrections:
    """What late events correct emitted windows with: the files of their batch, all events before it, who reads them."""

    files: Sequence[File]
    raw: Callable[[int], RawEvents]  # of the batches before, since a time
    executors: Executors
    say: Say = silent

    def evaluate(
        self, storage: Storage, before: Manifest, program: Program, work: Work, execute: Executor
    ) -> tuple[Work, Outcome]:
        """Evaluate a batch, and answer the windows once more that its late events correct; return its work as it was
        done, too.

        Only a batch with such events has the files of those before it looked for, since it reads them: where some are
        gone, it is evaluated once more and corrects fewer windows."""
        complete_after = before.watermark if before.corrected_after is None else before.corrected_after
        work = replace(work, corrected_after=max(complete_after, before.watermark - program.corrections, BEGINNING))
        outcome = run_tasks(storage, program, work, execute, FOLDERS)
        first = _first_corrected(outcome)
        if first < ENDLESS and (after := self._reach_back(before, program, work, first)) != work.corrected_after:
            work = replace(work, corrected_after=after)
            outcome = run_tasks(storage, program, work, execute, FOLDERS)
            first = _first_corrected(outcome)
        revisions = self.revise(storage, program, work, first) if first < ENDLESS else []
        return work, replace(outcome, revisions=revisions)

    def _reach_back(self, before: Manifest, program: Program, work: Work, first: int) -> int | None:
        """Return the time after which windows end that events from `first` on correct: all their events are there."""
        assert work.corrected_after is not None
        longest = _longest_range(program)
        since = self.raw(max(BEGINNING, max(work.corrected_after, first) - longest + 1)).since
        if since == BEGINNING:
            return work.corrected_after
        self.say("files of earlier batches are gone: emitted windows that hold some of their events are not corrected")
        return min(max(work.corrected_after, since + longest - 1), before.watermark)

    def revise(self, storage: Storage, program: Program, work: Work, first: int = BEGINNING) -> list[DataFile]:
        """Answer the windows that are out and hold events of the batch once more, from all events they hold by now.

        No event of the batch before `first` corrects a window. The batch's own events tell which rows these are: those
        that they alone would give in these windows."""
        assert work.corrected_after is not None
        low = max(work.corrected_after, first)
        past = Work(work.root, work.batch, low, work.emitted, work.buckets, joined=work.joined, kind="correct")
        past = replace(past, counts=False, finds_late=False)
        own = run_tasks(storage, program, past, self.executors.execute_alone(self.files), FOLDERS)
        files = [*self.raw(max(BEGINNING, low - _longest_range(program) + 1)).files, *self.files]
        whole = replace(past, touched=tuple(results_of(own)))
        if not whole.touched:
            return []
        return results_of(run_tasks(storage, program, whole, self.executors.execute_alone(files), FOLDERS))


def _first_corrected(outcome: Outcome) -> int:
    """Return the time of the first event that corrects a window."""
    return min((report.first_corrected for report in outcome.feeds), default=ENDLESS)


def _longest_range(program: Program) -> int:
    woven = [tree.reach for _, tree in program.roots() if not tree.rows]
    return max([*woven, *(query.window.range for query in program.unshared)], default=0)


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
