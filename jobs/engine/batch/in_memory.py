"""Answers without a batch: all windows of a table in memory, and what open windows hold so far; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pyarrow as pa

from jobs.engine.events.columns import with_arrivals
from jobs.engine.events.parquet import BATCH_ROWS, columns_needed, with_inputs
from jobs.engine.feed.task import TablePair, fold_tables
from jobs.engine.finals.answers import Answer, answers
from jobs.engine.finals.fold import Finals
from jobs.engine.finals.gather import TreeSlices, gather
from jobs.engine.finals.task import without_early_windows
from jobs.engine.program.program import Program
from jobs.engine.slices.exchange import label
from jobs.engine.slices.slices import Slices, to_table
from jobs.engine.stopwatch import Stopwatch
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.retained import load_retained
from jobs.engine.warehouse.state_files import StateFiles
from jobs.engine.work import FeedReport, Work
from jobs.host.storage import Storage
from optimizer.windows.window import BEGINNING

NOWHERE = ""  # the folder of a batch that writes nothing
WORK = Work(NOWHERE, 0, BEGINNING, BEGINNING, 1, finds_late=False)  # no window is out: no event is late


class KeyedAnswer(NamedTuple):
    """The windows of one query, and the keys that its groups are the rows of."""

    keys: pa.Table
    answer: Answer


def answer_table(program: Program, events: pa.Table) -> Iterator[KeyedAnswer]:
    """Answer every query of a program, with all windows closed at the end of the events."""
    report = FeedReport()
    incoming = {
        label(grouping, tree): [to_table(partials) if isinstance(partials, Slices) else partials]
        for grouping, tree, partials in fold_tables(
            program, WORK, _read_in_batches(program, events), report, Stopwatch(report.seconds)
        )
    }
    if report.latest == BEGINNING:
        return
    until = report.latest + _longest_range(program)
    yield from _finish(program, StateFiles(Storage(NOWHERE), []), incoming, (BEGINNING, until))


def answer_open_windows(program: Program, storage: Storage, manifest: Manifest) -> Iterator[list[KeyedAnswer]]:
    """Yield, bucket by bucket, what the windows that have not been emitted hold so far, of the retained slices."""
    if manifest.latest == BEGINNING:
        return
    joined = load_retained(storage, manifest.standing).joined
    until = max(manifest.watermark, manifest.latest) + _longest_range(program)
    work = Work(storage.root, manifest.batch, manifest.watermark, until, manifest.buckets, joined=joined)
    for bucket in range(manifest.buckets):
        state = StateFiles(storage, [file for file in manifest.state if file.bucket == bucket])
        answered = _finish(program, state, {}, (manifest.watermark, until))
        yield [KeyedAnswer(keys, without_early_windows(answer, work)) for keys, answer in answered]


def _longest_range(program: Program) -> int:
    return max((tree.reach for _, tree in program.roots() if not tree.rows), default=0)


def _finish(
    program: Program, state: StateFiles, incoming: Mapping[str, list[pa.Table]], clock: tuple[int, int]
) -> Iterator[KeyedAnswer]:
    """Answer every query for the windows that end within the clock."""
    for grouping in program.groupings:
        done: dict[str, TreeSlices] = {}
        for tree in grouping.trees:
            gathered = gather(grouping, tree, done, state, incoming, clock)
            if gathered is None or gathered.slices is None:
                continue
            done[tree.id] = gathered
            for answer in answers(Finals(gathered.slices, tree, *clock, gathered.bounds)):
                yield KeyedAnswer(gathered.slices.keys, answer)


def _read_in_batches(program: Program, events: pa.Table) -> Iterator[TablePair]:
    """Yield the columns that are needed, some rows at a time."""
    needed = events.select(columns_needed(program))
    for first in range(0, needed.num_rows, BATCH_ROWS):
        table = needed.slice(first, BATCH_ROWS)
        inputs = with_inputs(table, program)
        yield table, with_arrivals(inputs, [(NOWHERE, first, table.num_rows)]) if program.in_rows else inputs
