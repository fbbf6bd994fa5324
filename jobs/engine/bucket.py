"""Finals: what one task does for its bucket: merge, answer, write the results and the state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa

from jobs.engine import late_files, result_files, state
from jobs.engine.answers import Answer, answers
from jobs.engine.exchange import gathered, joined, label
from jobs.engine.fold import Finals
from jobs.engine.manifest import DataFile
from jobs.engine.program import Grouping, Program, TreeProgram
from jobs.engine.shards import unsharded
from jobs.engine.slices import Slices, fold_into, to_table
from jobs.engine.steps import step
from jobs.engine.stopwatch import Stopwatch
from jobs.engine.storage import Storage
from optimizer.plan import EVENTS


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
    kept: dict[str, Slices] = {}
    for grouping in program.groupings:
        found: list[tuple[pa.Table, Answer]] = []
        slices: dict[str, Slices] = {}
        for tree in grouping.trees:
            partials = _gather(grouping, tree, slices, retained, incoming, work)
            if partials is None:
                continue
            held, fed = partials
            slices[tree.id] = held
            if tree.feed == EVENTS:
                kept[label(grouping, tree)] = held.since(work.until - tree.reach + 1)
            if tree.bits:
                slices[tree.id], fed = unsharded(held, grouping, tree)
            report.partials[tree.id] = len(held.start)
            finals = Finals(slices[tree.id], tree, work.emitted, work.until)
            found += [(slices[tree.id].keys, answer) for answer in answers(finals)]
            report.operations[tree.id] = fed + sum(finals.operations.values())
        step("finals")
        watch.lap("finals")
        if found:
            table = pa.concat_tables(
                [result_files.result_table(grouping, keys, [answer]) for keys, answer in found],
                promote_options="default",
            )
            report.results.append(result_files.write_results(storage, work.batch, bucket, grouping.name, table))
            watch.lap("write")
    step("results")
    report.state = _save(storage, work, bucket, files, kept, incoming)
    step("state")
    _merge(storage, work, bucket, report)
    step("merged")
    watch.lap("write")
    return report


def _gather(
    grouping: Grouping,
    tree: TreeProgram,
    slices: dict[str, Slices],
    retained: dict[str, list[pa.Table]],
    incoming: dict[str, list[pa.Table]],
    work: Work,
) -> tuple[Slices, int] | None:
    """The tree's partials, from the raw events or from the tree that feeds it, and the partials it was fed."""
    if tree.feed != EVENTS:
        feeder = slices.get(tree.feed)
        if feeder is None:
            return None
        return fold_into(tree.edges, feeder, tree.measures), len(feeder.start) * len(tree.measures)
    name = label(grouping, tree)
    tables = retained.get(name, []) + incoming.get(name, [])
    return (joined(grouping, tree, tables).since(work.emitted - tree.reach + 1), 0) if tables else None


def _save(
    storage: Storage,
    work: Work,
    bucket: int,
    files: list[DataFile],
    kept: dict[str, Slices],
    incoming: dict[str, list[pa.Table]],
) -> list[DataFile]:
    added = sum(table.num_rows for tables in incoming.values() for table in tables)
    total = sum(len(slices.start) for slices in kept.values())
    if not added and (not files or not state.rewrite(files, 0, total)):
        return files
    if state.rewrite(files, added, total):
        return state.save_state(storage, work.batch, bucket, {name: to_table(slices) for name, slices in kept.items()})
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
