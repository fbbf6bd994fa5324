"""Answers in memory, laid out as the rows of a statement: keys, the window's start, a column per query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.batch.in_memory import KeyedAnswer
from jobs.engine.events.arrow import to_array
from jobs.engine.program.program import key_column
from jobs.engine.program.spark_types import INSTANT
from jobs.engine.warehouse.read_answers import answer_column, join_queries, presence_column
from jobs.engine.warehouse.result_files import START
from jobs.engine.warehouse.statements import EvaluatedStatement
from jobs.kernels.arrays import Ints


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
    rows = join_queries(statement, [_apart(statement, id, of_query) for id, of_query in answered])
    return rows.sort_by([(START, "ascending"), *((key_column(key), "ascending") for key in statement.keys)])


def _have_equal_rows(answers: Sequence[KeyedAnswer]) -> bool:
    """Whether answers are of one tree and have the same windows, row by row."""
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


def _apart(statement: EvaluatedStatement, query: str, keyed: KeyedAnswer) -> pa.Table:
    """Return the rows of one query, null in the columns of the others."""
    keys, answer = keyed
    rows = len(answer.group)
    columns = _key_columns(statement, keys, pa.array(answer.group))
    columns[START] = pa.array(answer.start).view(INSTANT)
    for id, kind in ((id, statement.types[id]) for id in statement.queries):
        columns[answer_column(id)] = answer.value if id == query else pa.nulls(rows, kind)
    columns |= {presence_column(id): pa.repeat(id == query, rows) for id in statement.queries}
    return pa.table(columns)
