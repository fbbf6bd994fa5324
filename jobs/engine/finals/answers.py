"""Answers as the user's SQL has them: finished from folded measures, nulls and types as Spark gives them.

Sums and averages of decimals are exact to the last digit. A decimal of at most 18 digits is one word. A longer one is
two, high * 2**64 + low with a low word that has a sign; each is added by itself, in limbs that no sum leaves.

The answers of one bucket and grouping become tables, one per row group of the result file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.engine.events.arrow import Words, find_too_large, join_words, to_array
from jobs.engine.events.keys import dictionary_column, renumber_used
from jobs.engine.finals.fold import Finals, Folded
from jobs.engine.finals.tally_answers import answer_from_tally
from jobs.engine.program.program import Grouping, QueryProgram
from jobs.engine.program.spark_types import INSTANT
from jobs.engine.warehouse.result_files import MOST_LABELS, QUERY, ROW_GROUP, START, value_column
from jobs.kernels.algebra.finish import LARGEST, Part, divide_rounded, finish
from jobs.kernels.algebra.operators import LIMB_BITS, LIMB_MASK
from jobs.kernels.arrays import Bools, Ints, Rows
from optimizer.errors import HeddleError
from optimizer.plan.counters import ANSWER

RARE = 4  # rows of a key in an answer, on average, below which a dictionary of the keys costs more than it saves
Index = npt.NDArray[np.integer[Any]]
AVERAGES = ("avg", "try_avg")
TRIED = ("try_sum", "try_avg")  # null where the others refuse
HIGHEST = (1 << 63) - (1 << 32)  # of a high word, beyond which a sum has surely more than 38 digits


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


def answer_decimals(query: QueryProgram, folded: Sequence[Folded]) -> pa.Array:
    """Return the sums or averages of windows: null where no value is, refused where Spark's type does not hold one.

    `folded` are the sums of the low words, then those of the high ones if there are any; an average has counts behind
    them."""
    assert query.summed is not None
    sums, counts = (folded[:-1], folded[-1].numbers[0]) if query.aggregate in AVERAGES else (folded, None)
    words, is_lost = _add_words(sums)
    valid = np.ones(len(words.low), np.bool_) if folded[0].valid is None else folded[0].valid
    overflow = (is_lost | find_too_large(words, query.summed.precision)) & valid
    if counts is not None:
        words, is_large = _divide(query, words, counts, valid)
        overflow |= is_large
    if overflow.any() and query.aggregate not in TRIED:
        raise too_large(query)
    return join_words(query.type, words, valid & ~overflow)


def too_large(query: QueryProgram) -> HeddleError:
    """Return the refusal of an answer that its type does not hold."""
    return HeddleError(
        f"query {query.id}: the {query.aggregate} of a window does not fit into {query.type}, and Spark would refuse "
        "it too; cast to double first"
    )


def _add_words(sums: Sequence[Folded]) -> tuple[Words, Bools]:
    """Return the sums of 128 bits, and which of them have more."""
    low = _words_of(sums[0])
    if len(sums) == 1:
        return low, np.zeros(len(low.low), np.bool_)
    high = _words_of(sums[1])
    is_lost = (high.high != high.low >> 63) | (high.low > HIGHEST) | (high.low < -HIGHEST)
    return Words(low.low, low.high + np.where(is_lost, 0, high.low)), is_lost


def _words_of(sums: Folded) -> Words:
    """Return sums in limbs of 32 bits as words; where there are no limbs, all sums fit into 64 bits."""
    if sums.limbs is None:
        low = sums.numbers[0]
        return Words(low, low >> 63)
    high, low = sums.limbs
    high = high + (low >> LIMB_BITS)
    return Words((high << LIMB_BITS) | (low & LIMB_MASK), high >> LIMB_BITS)


def _divide(query: QueryProgram, sums: Words, counts: Ints, valid: Bools) -> tuple[Words, Bools]:
    """Return the quotients with the digits of an average, and which of them its type does not hold."""
    assert query.summed is not None
    if counts.max(initial=0) > LARGEST:
        raise HeddleError(f"query {query.id}: a window has more than {LARGEST} values, more than are averaged here")
    factor = 10 ** (query.type.scale - query.summed.scale)
    low, high, is_lost = divide_rounded(sums.low, sums.high, factor, np.maximum(counts, 1))
    quotients = Words(low, high)
    return quotients, (is_lost | find_too_large(quotients, query.type.precision)) & valid
