"""Answers as the user's SQL has them: finished from folded measures, nulls and types as Spark gives them.

The answers of one bucket and grouping become tables, one per row group of the result file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.engine.events.arrow import to_array
from jobs.engine.events.decimal_words import Words, join_words
from jobs.engine.events.keys import dictionary_column, renumber_used
from jobs.engine.finals.decimal_answers import answer_decimals, too_large
from jobs.engine.finals.fold import Finals, Folded
from jobs.engine.finals.tally_answers import answer_from_tally
from jobs.engine.program.program import Grouping, QueryProgram
from jobs.engine.program.spark_types import INSTANT
from jobs.engine.warehouse.result_files import MOST_LABELS, QUERY, ROW_GROUP, START, value_column
from jobs.kernels.algebra.finish import Part, finish
from jobs.kernels.arrays import Bools, Ints, Rows
from optimizer.plan.counts import ANSWER

RARE = 4  # rows of a key in an answer, on average, below which a dictionary of the keys costs more than it saves
Index = npt.NDArray[np.integer[Any]]


class Answer(NamedTuple):
    """The windows of one query that ended: the key's row, the window's start, the value."""

    query: QueryProgram
    group: npt.NDArray[np.integer[Any]]
    start: Ints
    value: pa.Array


def answers(finals: Finals) -> Iterator[Answer]:
    """Answer every query of a tree."""
    for query in finals.tree.queries:
        windows = finals.emitted(query.window)
        if not len(windows.start):
            continue
        finals.tally({ANSWER: len(windows.start)})
        value = _value(finals, query)
        if query.passing:  # a window in which no event passes the predicate has no row in Spark's answer, either
            places = np.flatnonzero(finals.folded(query.passing, query.window).numbers[0] > 0)
            yield Answer(query, windows.group[places], windows.start[places], value.take(pa.array(places)))
        else:
            yield Answer(query, windows.group, windows.start, value)


def _value(finals: Finals, query: QueryProgram) -> pa.Array:
    first = finals.tree.measure(query.measures[0])
    if first.tally:
        return answer_from_tally(finals, query, first)
    folded = [finals.folded(key, query.window) for key in query.measures]
    if query.summed is not None:
        return answer_decimals(query, folded)
    folded = [_null_overflow(part) if query.aggregate == "try_sum" else part for part in folded]
    if any(part.overflow is not None and part.overflow.any() for part in folded):
        raise too_large(query)
    value = _carried_value(finals, query, folded[0])
    if value is not None:
        return value
    numbers, valid = finish(query.aggregate, [Part(part.numbers, part.valid) for part in folded])
    valid = None if valid is None or valid.all() else valid
    differences = numbers if valid is None else numbers[valid]
    if query.aggregate == "range" and pa.types.is_integer(query.type) and not _fits(differences, query.type):
        raise too_large(query)
    return _arrow(numbers, valid, query.type)


def _null_overflow(sums: Folded) -> Folded:
    if sums.overflow is None or not sums.overflow.any():
        return sums
    fits = ~sums.overflow
    return sums._replace(valid=fits if sums.valid is None else sums.valid & fits, overflow=None)


def _fits(difference: Rows, kind: pa.DataType) -> bool:
    """Return whether max - min stays inside its type; beyond int64 it has wrapped around to below zero."""
    if not len(difference):
        return True
    return bool(difference.min() >= 0 and difference.max() < 1 << (kind.bit_width - 1))


def _carried_value(finals: Finals, query: QueryProgram, folded: Folded) -> pa.Array | None:
    measure = finals.tree.measure(query.measures[0])
    if not measure.carries:
        return None
    name = f"payload {measure.key}" if measure.payload else f"order {measure.key}"
    index = pa.array(folded.source, mask=None if folded.valid is None else ~folded.valid)
    return finals.slices.carried(measure, name, index).cast(query.type)


def _arrow(numbers: Rows, valid: Bools | None, kind: pa.DataType) -> pa.Array:
    if pa.types.is_decimal(kind):
        return join_words(kind, Words(numbers, numbers >> 63), valid)
    mask = None if valid is None else ~valid
    if pa.types.is_boolean(kind):
        return pa.array(numbers != 0, kind, mask=mask)
    if pa.types.is_date32(kind):
        return pa.array(numbers.astype(np.int32), pa.int32(), mask=mask).view(kind)
    if pa.types.is_timestamp(kind):
        return pa.array(numbers.astype(np.int64), pa.int64(), mask=mask).view(kind)
    return pa.array(numbers, mask=mask).cast(kind, safe=False)


KeyedAnswer = tuple[pa.Table, Answer]


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
    """Return whether a key has rows enough for a dictionary to pay; all row groups of a file have the same columns."""
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
    columns = {QUERY: _join_chunks(pa.DictionaryArray.from_arrays(pa.array(number), labels) for number in numbers)}
    if grouping.keys:
        columns |= _key_columns(grouping, answers, by_dictionary)
    columns[START] = _join_chunks(pa.array(answer.start).view(INSTANT) for _, answer in answers)
    for kind in kinds:
        columns[value_column(kind)] = _join_chunks(
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


def _join_chunks(parts: Iterable[pa.Array]) -> pa.ChunkedArray:
    return pa.chunked_array(list(parts))


def _with_nullability(table: pa.Table, nullable: Collection[str]) -> pa.Table:
    """Return the table with columns that say when they hold no null, which Parquet writes at half the price."""
    return table.cast(pa.schema([field.with_nullable(field.name in nullable) for field in table.schema]))
