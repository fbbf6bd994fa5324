"""Answers without a batch: all windows of a table in memory, and what open windows hold so far; nothing is written.

Answers are laid out as the rows of a statement: keys, the window's start, a column per query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.arrow import to_array
from jobs.engine.events.columns import with_arrivals
from jobs.engine.events.parquet import BATCH_ROWS, with_inputs
from jobs.engine.feed.task import TablePair, fold_tables
from jobs.engine.finals.answers import Answer, answers
from jobs.engine.finals.fold import Finals
from jobs.engine.finals.gather import TreeSlices, gather
from jobs.engine.finals.task import without_early_windows
from jobs.engine.program.program import Program, key_column
from jobs.engine.program.spark_types import INSTANT
from jobs.engine.slices.exchange import label
from jobs.engine.slices.slices import Slices, to_table
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.read_answers import answer_column, join_queries, presence_column
from jobs.engine.warehouse.result_files import START
from jobs.engine.warehouse.state_files import StateFiles, load_retained
from jobs.engine.warehouse.statements import EvaluatedStatement
from jobs.engine.work import FeedReport, Stopwatch, Work
from jobs.host.storage import Storage
from jobs.kernels.arrays import Ints
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
        slices_by_tree: dict[str, TreeSlices] = {}
        for tree in grouping.trees:
            gathered = gather(grouping, tree, slices_by_tree, state, incoming, clock)
            if gathered is None or gathered.slices is None:
                continue
            slices_by_tree[tree.id] = gathered
            for answer in answers(Finals(gathered.slices, tree, *clock, gathered.bounds)):
                yield KeyedAnswer(gathered.slices.keys, answer)


def _read_in_batches(program: Program, events: pa.Table) -> Iterator[TablePair]:
    """Yield the columns that are needed, some rows at a time."""
    needed = events.select(program.columns_needed)
    for first in range(0, needed.num_rows, BATCH_ROWS):
        table = needed.slice(first, BATCH_ROWS)
        inputs = with_inputs(table, program)
        yield table, with_arrivals(inputs, [(NOWHERE, first, table.num_rows)]) if program.in_rows else inputs


def by_label(answers: Iterable[KeyedAnswer]) -> dict[str, KeyedAnswer]:
    """Return answers by the labels of their queries."""
    return {keyed.answer.query.label: keyed for keyed in answers}


def statement_rows(statement: EvaluatedStatement, keyed: Mapping[str, KeyedAnswer], ranks: dict[int, Ints]) -> pa.Table:
    """Return the answers of a statement in the order of window and keys, one column per query; `ranks` remembers the
    order of keys for the next statement."""
    answered = [(id, keyed[label]) for id, label in statement.labels.items() if label in keyed]
    if len(answered) == len(statement.queries) and _have_equal_rows([of_query for _, of_query in answered]):
        keys, first = answered[0][1]
        if id(keys) not in ranks:
            ranks[id(keys)] = _rank_keys(keys)
        order = pa.array(np.lexsort((ranks[id(keys)][first.group], first.start)))
        group = pa.array(first.group).take(order)
        columns = _key_columns(statement, keys, group)
        columns[START] = pa.array(first.start).take(order).view(INSTANT)
        columns |= {answer_column(id): of_query.answer.value.take(order) for id, of_query in answered}
        return pa.table(columns)
    rows = join_queries(statement, [_rows_of_query(statement, id, of_query) for id, of_query in answered])
    return rows.sort_by([(START, "ascending"), *((key_column(key), "ascending") for key in statement.keys)])


def _have_equal_rows(answers: Sequence[KeyedAnswer]) -> bool:
    """Return whether answers are of one tree and have the same windows, row by row."""
    keys, first = answers[0]
    return all(
        other is keys and np.array_equal(answer.start, first.start) and np.array_equal(answer.group, first.group)
        for other, answer in answers[1:]
    )


def _rank_keys(keys: pa.Table) -> Ints:
    """Return the place of every key among all of them in ascending order, nulls last."""
    ranks = np.empty(keys.num_rows, np.int64)
    order = pc.sort_indices(keys, [(name, "ascending") for name in keys.column_names])
    ranks[np.asarray(order)] = np.arange(keys.num_rows)
    return ranks


def _key_columns(statement: EvaluatedStatement, keys: pa.Table, rows: pa.Array) -> dict[str, pa.Array]:
    return {
        key_column(key): to_array(keys[key_column(key)]).cast(kind).take(rows)
        for key, kind in statement.key_types.items()
    }


def _rows_of_query(statement: EvaluatedStatement, query: str, keyed: KeyedAnswer) -> pa.Table:
    """Return the rows of one query, null in the columns of the others."""
    keys, answer = keyed
    rows = len(answer.group)
    columns = _key_columns(statement, keys, pa.array(answer.group))
    columns[START] = pa.array(answer.start).view(INSTANT)
    for id, kind in ((id, statement.types[id]) for id in statement.queries):
        columns[answer_column(id)] = answer.value if id == query else pa.nulls(rows, kind)
    columns |= {presence_column(id): pa.repeat(id == query, rows) for id in statement.queries}
    return pa.table(columns)
