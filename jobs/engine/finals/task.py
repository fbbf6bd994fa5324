"""Finals: what one task does for its bucket: merge, answer, write the results and the state."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from jobs.engine.finals.answers import Answer, answers
from jobs.engine.finals.fold import Finals
from jobs.engine.finals.gather import Gathered, Kept, gather
from jobs.engine.finals.result_tables import result_tables
from jobs.engine.program.program import Program
from jobs.engine.slices.exchange import unpack_parcels
from jobs.engine.stopwatch import Stopwatch
from jobs.engine.warehouse import late_files, result_files
from jobs.engine.warehouse import state_files as state
from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.work import BucketReport, Work
from jobs.host.kill_points import step
from jobs.host.storage import Storage


def finish_bucket(program: Program, work: Work, bucket: int, contents: Iterable[bytes]) -> BucketReport:
    """Merge the batch's partials into the retained slices and emit the windows that end."""
    storage = Storage(work.root)
    files = [file for file in work.state if file.bucket == bucket]
    report = BucketReport()
    watch = Stopwatch(report.seconds)
    incoming = unpack_parcels(contents)
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
            tables = result_tables(grouping, found)
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
    if not added and (not files or not state.pays_to_rewrite(files, 0, total)):
        return files
    if state.pays_to_rewrite(files, added, total):
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
