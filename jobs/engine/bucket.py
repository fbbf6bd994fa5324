"""Finals: what one task does for its bucket: merge, answer, write the results and the state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from jobs.engine import late_files, result_files, state
from jobs.engine.answers import Answer, answers
from jobs.engine.exchange import gathered
from jobs.engine.fold import Finals
from jobs.engine.gather import Gathered, Kept, gather
from jobs.engine.manifest import BEGINNING, DataFile
from jobs.engine.program import Program
from jobs.engine.steps import step
from jobs.engine.stopwatch import Stopwatch
from jobs.engine.storage import Storage


@dataclass(frozen=True)
class Work:
    """What the driver tells every task of a batch."""

    root: str
    batch: int
    emitted: int  # windows that end at or before it are out already
    until: int  # windows that end at or before it are emitted now
    buckets: int
    state: tuple[DataFile, ...] = ()
    results: tuple[DataFile, ...] = ()
    late: tuple[DataFile, ...] = ()
    joined: dict[str, int] = field(default_factory=dict)  # labels of later queries: windows ending after it are theirs
    carried: dict[str, str] | None = None  # a new plan takes over: whose slices each of its trees goes on with
    lateness: int | None = None  # the last batch of a run: windows that its own events let end are emitted, too

    def seen(self, latest: int) -> Work:
        """The work, once the latest event of the batch is known."""
        if self.lateness is None or latest == BEGINNING:
            return self
        return replace(self, until=max(self.until, latest - self.lateness))

    @property
    def told(self) -> range:
        """The buckets that have to know the latest event."""
        return range(0 if self.lateness is None else self.buckets)


@dataclass
class BucketReport:
    """What a bucket tells the driver."""

    state: list[DataFile] = field(default_factory=list)
    results: list[DataFile] = field(default_factory=list)
    merged: list[DataFile] = field(default_factory=list)  # files whose rows are now in another file of `results`
    operations: dict[str, int] = field(default_factory=dict)
    partials: dict[str, int] = field(default_factory=dict)
    late: list[DataFile] = field(default_factory=list)  # mergers of late files; what they hold is in `merged`
    seconds: dict[str, float] = field(default_factory=dict)


def finish_bucket(program: Program, work: Work, bucket: int, contents: Iterable[bytes]) -> BucketReport:
    """Merge the batch's partials into the retained slices and emit the windows that end."""
    storage = Storage(work.root)
    files = [file for file in work.state if file.bucket == bucket]
    report = BucketReport()
    watch = Stopwatch(report.seconds)
    incoming = gathered(contents)
    retained = state.load_state(storage, files)
    watch.lap("exchange")
    kept: Kept = {}
    for grouping in program.groupings:
        found: list[tuple[pa.Table, list[Answer]]] = []
        done: dict[str, Gathered] = {}
        for tree in grouping.trees:
            each = gather(grouping, tree, done, retained, incoming, (work.emitted, work.until))
            if each is None:
                continue
            done[tree.id] = each
            kept |= each.kept
            report.partials[tree.id] = each.partials
            report.operations[tree.id] = each.folded
            if each.slices:
                finals = Finals(each.slices, tree, work.emitted, work.until, each.bounds)
                found.append((each.slices.keys, [_asked_for(answer, work) for answer in answers(finals)]))
                report.operations[tree.id] += sum(finals.operations.values())
        step("finals")
        watch.lap("finals")
        if any(mine for _, mine in found):
            tables = result_files.result_tables(grouping, found)
            report.results.append(result_files.write_results(storage, work.batch, bucket, grouping.name, tables))
            watch.lap("write")
    step("results")
    report.state = _save(storage, work, bucket, files, kept, incoming)
    step("state")
    _merge(storage, work, bucket, report)
    step("merged")
    watch.lap("write")
    return report


def _asked_for(answer: Answer, work: Work) -> Answer:
    """Without the windows that began before all events of a later query were there."""
    after = work.joined.get(answer.query.label, work.emitted)
    if after <= work.emitted or answer.query.window.rows:
        return answer
    kept = np.flatnonzero(answer.start + answer.query.window.range > after)
    return answer._replace(group=answer.group[kept], start=answer.start[kept], value=answer.value.take(pa.array(kept)))


def _save(
    storage: Storage,
    work: Work,
    bucket: int,
    files: list[DataFile],
    kept: Kept,
    incoming: dict[str, list[pa.Table]],
) -> list[DataFile]:
    added = sum(table.num_rows for tables in incoming.values() for table in tables)
    total = sum(held.num_rows for held in kept.values())
    if not added and (not files or not state.rewrite(files, 0, total)):
        return files
    if state.rewrite(files, added, total):
        tables = {name: held if isinstance(held, pa.Table) else held.table() for name, held in kept.items()}
        return state.save_state(storage, work.batch, bucket, tables)
    delta = {name: pa.concat_tables(tables, promote_options="permissive") for name, tables in incoming.items()}
    return files + state.save_state(storage, work.batch, bucket, delta)


def _merge(storage: Storage, work: Work, bucket: int, report: BucketReport) -> None:
    """Make few files of many small ones; late files belong to no bucket, the first one sees to them."""
    for group in result_files.mergeable(file for file in work.results if file.bucket == bucket):
        report.results.append(result_files.merge_files(storage, result_files.FOLDER, work.batch, group))
        report.merged += group
    for group in result_files.mergeable(work.late) if bucket == 0 else []:
        report.late.append(result_files.merge_files(storage, late_files.FOLDER, work.batch, group))
        report.merged += group
