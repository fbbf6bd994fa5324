"""The answers of one bucket and grouping as tables, one per row group of the result file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.engine.events.arrow import to_array
from jobs.engine.events.keys import dictionary_column, renumber_used
from jobs.engine.finals.answers import Answer
from jobs.engine.program.program import Grouping
from jobs.engine.program.spark_types import INSTANT
from jobs.engine.warehouse.result_files import MOST_LABELS, QUERY, ROW_GROUP, START, value_column

RARE = 4  # rows of a key in an answer, on average, below which a dictionary of the keys costs more than it saves
KeyedAnswer = tuple[pa.Table, Answer]
Index = npt.NDArray[np.integer[Any]]


def result_tables(grouping: Grouping, trees: Sequence[tuple[pa.Table, Sequence[Answer]]]) -> list[pa.Table]:
    """Lay out the answers of trees, each with its keys; a table per row group, so that a reader of one query skips the
    others."""
    answers = [(keys, answer) for keys, of_tree in trees for answer in of_tree]
    kinds = list(dict.fromkeys(answer.value.type for _, answer in answers))
    by_dictionary = _repeat_keys(answers)
    tables = [_table(grouping, group, kinds, by_dictionary) for group in _row_groups(answers)]
    nullable = {name for table in tables for name in table.column_names if table[name].null_count}
    return [_with_nullability(table, nullable) for table in tables]


def _repeat_keys(answers: Sequence[KeyedAnswer]) -> bool:
    """Whether a key has rows enough for a dictionary to pay; all row groups of a file have the same columns."""
    rows = sum(len(answer.group) for _, answer in answers)
    distinct: int = sum(min(keys.num_rows, len(answer.group)) for keys, answer in answers)
    return rows >= RARE * distinct


def _row_groups(answers: Sequence[KeyedAnswer]) -> Iterator[list[KeyedAnswer]]:
    """Cut the answers into row groups: whole answers, until there are enough rows or labels; large ones in parts."""
    group: list[KeyedAnswer] = []
    rows = 0
    for keys, whole in answers:
        for answer in _parts(whole):
            if group and (rows + len(answer.group) > ROW_GROUP or len(group) == MOST_LABELS):
                yield group
                group, rows = [], 0
            group.append((keys, answer))
            rows += len(answer.group)
    yield group


def _parts(answer: Answer) -> Iterator[Answer]:
    if len(answer.group) <= ROW_GROUP:
        yield answer
        return
    for low in range(0, len(answer.group), ROW_GROUP):
        part = slice(low, low + ROW_GROUP)
        yield answer._replace(group=answer.group[part], start=answer.start[part], value=answer.value[part])


def _table(
    grouping: Grouping, answers: Sequence[KeyedAnswer], kinds: Sequence[pa.DataType], by_dictionary: bool
) -> pa.Table:
    labels = pa.array([answer.query.label for _, answer in answers])
    numbers = (np.full(len(answer.group), place, np.int8) for place, (_, answer) in enumerate(answers))
    columns = {QUERY: _chunked(pa.DictionaryArray.from_arrays(pa.array(number), labels) for number in numbers)}
    if grouping.keys:
        columns |= _key_columns(grouping, answers, by_dictionary)
    columns[START] = _chunked(pa.array(answer.start).view(INSTANT) for _, answer in answers)
    for kind in kinds:
        columns[value_column(kind)] = _chunked(
            answer.value if answer.value.type == kind else pa.nulls(len(answer.value), kind) for _, answer in answers
        )
    return pa.table(columns).unify_dictionaries()


def _key_columns(grouping: Grouping, answers: Sequence[KeyedAnswer], by_dictionary: bool) -> dict[str, pa.ChunkedArray]:
    chunks: dict[str, list[pa.Array]] = {name: [] for name in grouping.columns}
    for _, of_tree in groupby(answers, key=lambda keyed: id(keyed[0])):
        members = list(of_tree)
        keys = members[0][0]
        index: Index = np.concatenate([answer.group for _, answer in members], dtype=np.int32, casting="same_kind")
        if by_dictionary and keys.num_rows > len(index) // RARE:  # a row group has the dictionary of its own keys only
            keys, index = _used_keys(keys, index)
        for name, parts in chunks.items():
            column = to_array(keys[name])
            parts.append(dictionary_column(column, index) if by_dictionary else column.take(pa.array(index)))
    return {name: pa.chunked_array(parts) for name, parts in chunks.items()}


def _used_keys(keys: pa.Table, index: Index) -> tuple[pa.Table, Index]:
    """Return the keys of some rows, and which of them each row has; rows come key by key, so they lie side by side."""
    first = int(index.min(initial=keys.num_rows))
    used, codes = renumber_used((index - first).astype(np.int64), int(index.max(initial=first)) - first + 1)
    return keys.take(pa.array(used + first)), codes


def _chunked(parts: Iterable[pa.Array]) -> pa.ChunkedArray:
    return pa.chunked_array(list(parts))


def _with_nullability(table: pa.Table, nullable: Collection[str]) -> pa.Table:
    """Return the table with columns that say when they hold no null, which Parquet writes at half the price."""
    return table.cast(pa.schema([field.with_nullable(field.name in nullable) for field in table.schema]))
