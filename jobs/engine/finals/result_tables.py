"""The answers of one bucket and grouping as tables, one per row group of the result file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from jobs.engine.events.keys import dictionary_column
from jobs.engine.finals.answers import Answer
from jobs.engine.program.program import ALL, Grouping, key_column
from jobs.engine.program.spark_types import INSTANT
from jobs.engine.warehouse.result_files import MOST_LABELS, QUERY, ROW_GROUP, START, value_column


def result_tables(grouping: Grouping, trees: Sequence[tuple[pa.Table, Sequence[Answer]]]) -> list[pa.Table]:
    """Lay out the answers of trees, each with its keys; a table per row group, so that a reader of one query skips the
    others."""
    answers = [(keys, answer) for keys, of_tree in trees for answer in of_tree]
    kinds = list(dict.fromkeys(answer.value.type for _, answer in answers))
    tables = [_table(grouping, group, kinds) for group in _row_groups(answers)]
    nullable = {name for table in tables for name in table.column_names if table[name].null_count}
    return [_with_nullability(table, nullable) for table in tables]


def _row_groups(answers: Sequence[tuple[pa.Table, Answer]]) -> Iterator[list[tuple[pa.Table, Answer]]]:
    """Cut the answers into row groups: whole answers, until there are enough rows or labels."""
    group: list[tuple[pa.Table, Answer]] = []
    rows = 0
    for keys, answer in answers:
        if group and (rows + len(answer.group) > ROW_GROUP or len(group) == MOST_LABELS):
            yield group
            group, rows = [], 0
        group.append((keys, answer))
        rows += len(answer.group)
    yield group


def _table(grouping: Grouping, answers: Sequence[tuple[pa.Table, Answer]], kinds: Sequence[pa.DataType]) -> pa.Table:
    labels = pa.array([answer.query.label for _, answer in answers])
    numbers = (np.full(len(answer.group), place, np.int8) for place, (_, answer) in enumerate(answers))
    columns = {QUERY: _chunked(pa.DictionaryArray.from_arrays(pa.array(number), labels) for number in numbers)}
    for name in grouping.keys:
        if name != ALL:
            columns[key_column(name)] = _chunked(
                dictionary_column(keys[name].combine_chunks(), answer.group) for keys, answer in answers
            )
    columns[START] = _chunked(pa.array(answer.start).view(INSTANT) for _, answer in answers)
    for kind in kinds:
        columns[value_column(kind)] = _chunked(
            answer.value if answer.value.type == kind else pa.nulls(len(answer.value), kind) for _, answer in answers
        )
    return pa.table(columns).unify_dictionaries()


def _chunked(parts: Iterable[pa.Array]) -> pa.ChunkedArray:
    return pa.chunked_array(list(parts))


def _with_nullability(table: pa.Table, nullable: Collection[str]) -> pa.Table:
    """Return the table with columns that say when they hold no null, which Parquet writes at half the price."""
    return table.cast(pa.schema([field.with_nullable(field.name in nullable) for field in table.schema]))
