"""Finals: what one task does for its bucket: merge, answer, write the results and the state.

For later batches it adds a file to the state, and now and then makes few files of many. When a new plan takes over,
the task writes the slices of that plan instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from jobs.engine.finals.answers import Answer, answers, result_tables
from jobs.engine.finals.fold import Finals
from jobs.engine.finals.gather import TreeSlices, gather, within
from jobs.engine.finals.tree_columns import dropped_label, number_rows
from jobs.engine.program.program import Grouping, Program, TreeProgram
from jobs.engine.slices.exchange import chunk_label, hardly_overlap, label, merge_tables, unpack_parcels
from jobs.engine.slices.slices import Slices, fold_into, join_tables, to_table
from jobs.engine.warehouse import result_files
from jobs.engine.warehouse.manifest import ENDLESS, DataFile
from jobs.engine.warehouse.result_files import revise_tables
from jobs.engine.warehouse.state_files import (
    ROWS,
    KeptTable,
    StateFiles,
    pays_to_rewrite,
    rows_since,
    save_added,
    save_by_shelf,
    save_state,
    shelf_name,
    tidy_files,
)
from jobs.engine.work import BucketReport, Stopwatch, Tally, Work, tally
from jobs.host.stops import step
from jobs.host.storage import Storage
from optimizer.plan.counters import ANSWERED, REWRITTEN, ROW, ROW_MERGED, VALUE
from optimizer.plan.levels import Level
from optimizer.windows.window import BEGINNING

AnswersByTree = dict[str, tuple[pa.Table, list[Answer]]]  # with the keys that the answers' groups are rows of


def run_bucket(program: Program, work: Work, bucket: int, contents: Iterable[bytes]) -> BucketReport:
    """Do the work of one bucket, whose parcels hold the contents."""
    if work.kind == "adopt":
        return adopt_bucket(program, work, bucket, contents)
    return finish_bucket(program, work, bucket, contents)


def adopt_bucket(program: Program, work: Work, bucket: int, contents: Iterable[bytes]) -> BucketReport:
    """Save the slices of a new plan: of the old slices that hold as much or more, or of the partials of raw events."""
    storage = Storage(work.root)
    retained = StateFiles(storage, [file for file in work.state if file.bucket == bucket]).all_tables()
    incoming = unpack_parcels(contents)
    slices: dict[str, KeptTable] = {}
    for grouping, tree in program.roots():
        name = label(grouping, tree)
        new = incoming.get(name)
        sources = [new or retained.get(source, []) for source in work.adopted_from.get(name, ("",) * len(tree.levels))]
        if tree.rows and sources[0]:
            (old,) = work.adopted_from.get(name, ("",))
            dropped = retained.get(dropped_label(old), [])
            numbered = number_rows(grouping, tree, [], sources[0], dropped, work.until, work.until)
            slices[name] = KeptTable(numbered.needed, tree.reach, ROWS)
            slices[dropped_label(name)] = KeptTable(numbered.before, tree.reach, ROWS)
        elif not tree.rows:
            slices |= _adopt_levels(grouping, tree, sources, work.until)
    report = BucketReport(state=save_by_shelf(storage, work.batch, bucket, slices))
    step("adopted")
    return report


def _adopt_levels(
    grouping: Grouping, tree: TreeProgram, sources: Sequence[list[pa.Table]], watermark: int
) -> dict[str, KeptTable]:
    """Fold the slices of a tree and its chunks that are closed, each level from tables that have its edges."""
    levels = {}
    for number, (level, tables) in enumerate(zip(tree.levels, sources, strict=True)):
        if tables:
            first, end = level.since(watermark), level.floor(watermark) if number else ENDLESS
            parts = [within(table, [(BEGINNING, end)]) for table in tables]
            slices = merge_tables(grouping, tree, parts, edges=level.edges).since(first)
            name = chunk_label(label(grouping, tree), level.edges, number)
            levels[name] = KeptTable(to_table(slices), level.reach, shelf_name(number, level.reach))
    return levels


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
        trees, answers_by_tree = _answer_grouping(grouping, work, state, incoming, report)
        all_trees += trees
        step("finals")
        watch.lap("finals")
        if any(of_tree for _, of_tree in answers_by_tree.values()):
            _tally_values(report.counts, grouping, answers_by_tree)
            _write_answers(storage, grouping, work, bucket, answers_by_tree, report)
            watch.lap("write")
    step("results")
    if work.kind == "correct":  # the batch itself sees to state and files
        return report
    report.state = retain_slices(program, work, bucket, state, incoming, all_trees, report.counts)
    step("state")
    _merge_files(storage, work, bucket, report)
    step("merged")
    watch.lap("write")
    return report


def _answer_grouping(
    grouping: Grouping, work: Work, state: StateFiles, incoming: Mapping[str, list[pa.Table]], report: BucketReport
) -> tuple[list[TreeSlices], AnswersByTree]:
    """Return the slices of every tree that has some, and its answers to the windows that end; report both."""
    slices_by_tree: dict[str, TreeSlices] = {}
    answers_by_tree: AnswersByTree = {}
    for tree in grouping.trees:
        gathered = gather(grouping, tree, slices_by_tree, state, incoming, (work.emitted, work.until))
        if gathered is None:
            continue
        slices_by_tree[tree.id] = gathered
        report.partials[tree.id] = gathered.partials
        report.operations[tree.id] = gathered.folded
        tally(report.counts, tree.id, gathered.counts)
        if gathered.slices:
            finals = Finals(gathered.slices, tree, work.emitted, work.until, gathered.bounds)
            answers_by_tree[tree.id] = gathered.slices.keys, _answer_tree(finals, work, report)
    return list(slices_by_tree.values()), answers_by_tree


def _answer_tree(finals: Finals, work: Work, report: BucketReport) -> list[Answer]:
    """Return the answers of one tree's queries, as far as their windows are complete; report what they took."""
    complete = [without_early_windows(answer, work) for answer in answers(finals)]
    report.operations[finals.tree.id] += sum(finals.operations.values())
    rows = sum(len(answer.group) for answer in complete)
    tally(report.counts, finals.tree.id, {**finals.counts, ROW: rows, ANSWERED: len(complete)})
    return complete


def _write_answers(
    storage: Storage, grouping: Grouping, work: Work, bucket: int, answers_by_tree: AnswersByTree, report: BucketReport
) -> None:
    """Write the answers of a grouping as one file; a correction writes only those in rows that late events touched."""
    tables = result_tables(grouping, list(answers_by_tree.values()))
    if work.touched:
        own = [file for file in work.touched if file.bucket == bucket and file.grouping == grouping.name]
        tables = revise_tables(storage, own, work.batch, tables)
    if tables:
        report.results.append(result_files.write_results(storage, work.batch, bucket, grouping.name, tables))


def _tally_values(counts: Tally, grouping: Grouping, answered: AnswersByTree) -> None:
    """Count the values of the rows that the trees of a grouping write: keys, and a column of every type."""
    columns = len(grouping.columns) if grouping.keys else 0
    types = len({answer.value.type for _, of_tree in answered.values() for answer in of_tree})
    for tree, (_, of_tree) in answered.items():
        rows = sum(len(answer.group) for answer in of_tree)
        tally(counts, tree, {VALUE: rows * (columns + types)})


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
        tally(report.counts, "", {ROW_MERGED: sum(file.rows for file in group)})
    for group in result_files.mergeable(work.late) if bucket == 0 else []:
        report.late.append(result_files.merge_files(storage, result_files.LATE_FOLDER, work.batch, group))
        report.merged += group


class LabelledLevel(NamedTuple):
    """A level of a tree that keeps state."""

    grouping: Grouping
    tree: TreeProgram
    number: int
    level: Level


def retain_slices(
    program: Program,
    work: Work,
    bucket: int,
    state: StateFiles,
    incoming: Mapping[str, list[pa.Table]],
    trees: Sequence[TreeSlices],
    counts: Tally,
) -> list[DataFile]:
    """Return the bucket's state files after a batch; count the slices that are written again."""
    added = {name: addition for tree in trees for name, addition in tree.added.items()}
    new = save_added(state.storage, work.batch, bucket, added)
    levels = labelled_levels(program)

    def merge(name: str, tables: list[pa.Table]) -> KeptTable:
        grouping, tree, number, level = levels[name]
        needed = [rows_since(table, level.since(work.until)) for table in tables]
        rows = sum(table.num_rows for table in needed)
        tally(counts, tree.id, {REWRITTEN: rows * len(tree.partial_measures)})
        if not number and tree.kept_edges:
            table = _join_slices(tree, merge_tables(grouping, tree, needed), work.until)
        elif hardly_overlap(needed):  # few partials would be combined: those of a key and slice lie in one file
            table = join_tables(needed)
        else:
            table = to_table(merge_tables(grouping, tree, needed))
        return KeptTable(table, level.reach, shelf_name(number, level.reach))

    in_time = [file for file in state.files if file.shelf != ROWS]
    rest = StateFiles(state.storage, [*in_time, *new])
    return _retain_rows(work, bucket, state, incoming, trees) + tidy_files(rest, work.batch, bucket, work.until, merge)


def _join_slices(tree: TreeProgram, slices: Slices, until: int) -> pa.Table:
    """Return the slices of a tree cut by cutty: those before the watermark are joined up to its own edges, since
    the windows that end in between are out."""
    before = slices.take(np.flatnonzero(slices.start < until))
    joined = fold_into(tree.kept_edges, before, tree.partial_measures)
    return pa.concat_tables([to_table(joined), to_table(slices.since(until))], promote_options="permissive")


def labelled_levels(program: Program) -> dict[str, LabelledLevel]:
    """Return every level of the trees that keep state, by the label of its tables."""
    return {
        chunk_label(label(grouping, tree), level.edges, number): LabelledLevel(grouping, tree, number, level)
        for grouping, tree in program.roots()
        for number, level in enumerate(tree.levels)
    }


def _retain_rows(
    work: Work,
    bucket: int,
    state: StateFiles,
    incoming: Mapping[str, list[pa.Table]],
    trees: Sequence[TreeSlices],
) -> list[DataFile]:
    """Write all rows that windows in rows still need as a new base where that pays, else the batch's as a delta."""
    files = [file for file in state.files if file.shelf == ROWS]
    parts = {name: part for tree in trees for name, part in tree.rows.items()}
    new = {name: pa.concat_tables(incoming[name], promote_options="permissive") for name in parts if name in incoming}
    added, total = sum(table.num_rows for table in new.values()), sum(part.table.num_rows for part in parts.values())
    if not added and (not files or not pays_to_rewrite(files, 0, total)):
        return files
    if pays_to_rewrite(files, added, total):
        return save_state(state.storage, work.batch, bucket, parts, ROWS)
    delta = {name: KeptTable(table, 0, ROWS) for name, table in new.items()}
    return files + save_state(state.storage, work.batch, bucket, delta, ROWS)
