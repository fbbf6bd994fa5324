"""Finals: what one task does for its bucket: merge, answer, write the results and the state."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from jobs.engine.finals.answers import Answer, answers
from jobs.engine.finals.fold import Finals
from jobs.engine.finals.gather import TreeSlices, gather
from jobs.engine.finals.result_tables import result_tables
from jobs.engine.finals.retain import retain_slices
from jobs.engine.program.program import Program
from jobs.engine.slices.exchange import unpack_parcels
from jobs.engine.stopwatch import Stopwatch
from jobs.engine.warehouse import late_files, result_files
from jobs.engine.warehouse.state_files import StateFiles
from jobs.engine.work import BucketReport, Work, tally
from jobs.host.kill_points import step
from jobs.host.storage import Storage
from optimizer.plan.counts import ANSWERED, ROW, ROW_MERGED


def finish_bucket(program: Program, work: Work, bucket: int, contents: Iterable[bytes]) -> BucketReport:
    """Merge the batch's partials into the retained slices and emit the windows that end."""
    storage = Storage(work.root)
    state = StateFiles(storage, [file for file in work.state if file.bucket == bucket])
    report = BucketReport()
    watch = Stopwatch(report.seconds)
    incoming = unpack_parcels(contents)
    watch.lap("exchange")
    all_trees: list[TreeSlices] = []
    for grouping in program.groupings:
        answered: list[tuple[pa.Table, list[Answer]]] = []
        done: dict[str, TreeSlices] = {}
        for tree in grouping.trees:
            gathered = gather(grouping, tree, done, state, incoming, (work.emitted, work.until))
            if gathered is None:
                continue
            done[tree.id] = gathered
            all_trees.append(gathered)
            report.partials[tree.id] = gathered.partials
            report.operations[tree.id] = gathered.folded
            tally(report.done, tree.id, gathered.done)
            if gathered.slices:
                finals = Finals(gathered.slices, tree, work.emitted, work.until, gathered.bounds)
                complete = [without_early_windows(answer, work) for answer in answers(finals)]
                answered.append((gathered.slices.keys, complete))
                report.operations[tree.id] += sum(finals.operations.values())
                written = sum(len(answer.group) for answer in complete)
                tally(report.done, tree.id, {**finals.done, ROW: written, ANSWERED: len(complete)})
        step("finals")
        watch.lap("finals")
        if any(answers_of_tree for _, answers_of_tree in answered):
            tables = result_tables(grouping, answered)
            report.results.append(result_files.write_results(storage, work.batch, bucket, grouping.name, tables))
            watch.lap("write")
    step("results")
    report.state = retain_slices(program, work, bucket, state, incoming, all_trees, report.done)
    step("state")
    _merge_files(storage, work, bucket, report)
    step("merged")
    watch.lap("write")
    return report


def without_early_windows(answer: Answer, work: Work) -> Answer:
    """Return an answer without the windows that began before all events of a later query were there."""
    after = work.joined.get(answer.query.label, work.emitted)
    if after <= work.emitted or answer.query.window.rows:
        return answer
    places = np.flatnonzero(answer.start + answer.query.window.range > after)
    value = answer.value.take(pa.array(places))
    return answer._replace(group=answer.group[places], start=answer.start[places], value=value)


def _merge_files(storage: Storage, work: Work, bucket: int, report: BucketReport) -> None:
    """Make few files of many small ones; late files belong to no bucket, the first one sees to them."""
    for group in result_files.mergeable(file for file in work.results if file.bucket == bucket):
        report.results.append(result_files.merge_files(storage, result_files.FOLDER, work.batch, group))
        report.merged += group
        tally(report.done, "", {ROW_MERGED: sum(file.rows for file in group)})
    for group in result_files.mergeable(work.late) if bucket == 0 else []:
        report.late.append(result_files.merge_files(storage, late_files.FOLDER, work.batch, group))
        report.merged += group
