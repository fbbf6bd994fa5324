"""A batch of events as the columns the fold needs: times, keys, values with their nulls, predicates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.arrow import split_words, to_array
from jobs.engine.events.keys import Keys, Signatures, join_signatures, key_codes, signatures, signatures_of_classes
from jobs.engine.events.predicate_index import truth_of
from jobs.engine.program.program import NO_KEY, TIME, Coding, Program
from jobs.engine.program.spark_types import is_short, plain_type
from jobs.kernels.arrays import Bools, Ints, Rows

FILE, POSITION, BATCH = (
    "__file__",
    "__position__",
    "batch",
)  # where an event stood, and when it came


@dataclass(frozen=True)
class Value:
    """One input column, and which of its values are not null (None: all)."""

    column: pa.Array
    valid: Bools | None

    @cached_property
    def numbers(self) -> Rows:
        """Numbers that order as Spark orders the values."""
        return _numbers(self.column)

    def coded(self, coding: Coding) -> Rows:
        """Return the numbers that a measure folds; of decimals that are added, the low word with a sign, or the rest.

        >>> from decimal import Decimal
        >>> value = value_of(pa.array([Decimal(2**64 - 1)], pa.decimal128(20, 0)))
        >>> value.coded("decimal").tolist(), value.coded("high").tolist()  # 1 * 2**64 - 1
        ([-1], [1])
        """
        if coding == "high":
            low, high = split_words(self.column)
            return high + (low < 0)
        return split_words(self.column).low if coding == "decimal" else self.numbers


class Predicates(Mapping[str, Bools]):
    """Which events pass each predicate, by its name; a mask is made when it is first asked for.

    >>> predicates = Predicates({"p": pa.array([True, None]), "q": pa.array([False, True]).dictionary_encode()})
    >>> predicates["p"].tolist(), predicates["q"].tolist(), predicates.signatures().codes.tolist()
    ([True, False], [False, True], [0, 1])
    """

    def __init__(self, columns: Mapping[str, pa.Array]) -> None:
        self._columns = columns
        self._masks: dict[str, Bools] = {}

    def __getitem__(self, name: str) -> Bools:
        if name not in self._masks:
            self._masks[name] = truth_of(self._columns[name])
        return self._masks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def signatures(self) -> Signatures:
        """Return which of all predicates each event passes; those that share classes are told apart by them alone."""
        columns = list(self._columns.values())
        by_classes: dict[int, list[int]] = {}  # the predicates, by where the codes of their classes lie in memory
        for number, column in enumerate(columns):
            if pa.types.is_dictionary(column.type):
                by_classes.setdefault(column.indices.buffers()[1].address, []).append(number)
        parts = [
            (numbers, signatures_of_classes([truth_of(columns[number].dictionary) for number in numbers], codes))
            for numbers in by_classes.values()
            if len(numbers) > 1
            for codes in [columns[numbers[0]].indices.to_numpy()]
        ]
        others = sorted(set(range(len(columns))).difference(*(numbers for numbers, _ in parts)))
        if others:
            names = list(self._columns)
            parts.append((others, signatures([self[names[number]] for number in others])))
        return join_signatures(parts)


@dataclass(frozen=True)
class Events:
    """Events that have a time. Every array has one entry per event."""

    times: Ints
    keys: pa.Table
    values: dict[str, Value]
    predicates: Predicates
    without_time: int
    arrival: pa.Table  # where every event stood; without columns unless some windows are in rows
    _codes: dict[tuple[str, ...], Keys] = field(default_factory=dict, repr=False, compare=False)

    def keys_of(self, columns: Sequence[str]) -> Keys:
        """Return the key of every event in some columns; trees of one grouping share the numbers."""
        names = tuple(columns)
        if names not in self._codes:
            self._codes[names] = key_codes(self.keys.select(list(names)))
        return self._codes[names]

    @cached_property
    def signatures(self) -> Signatures:
        """Which of all predicates each event passes."""
        return self.predicates.signatures()

    def signatures_of(self, names: Sequence[str]) -> Signatures:
        """Return which of these predicates each event passes."""
        place = {name: number for number, name in enumerate(self.predicates)}
        return self.signatures.select([place[name] for name in names])


def events_from(table: pa.Table, program: Program) -> Events:
    """Split a table into events; its columns are the time, the keys, and the program's inputs by name."""
    time = table[TIME]
    without_time = time.null_count
    if without_time:
        table = table.filter(pc.is_valid(time))
    names = {name for grouping in program.groupings for name in grouping.columns}
    keys = _as_spark_groups(table.select(sorted(names - {NO_KEY})))
    if NO_KEY in names:
        keys = keys.append_column(NO_KEY, pa.nulls(table.num_rows, pa.bool_()))
    return Events(
        microseconds(to_array(table[TIME])),
        keys,
        {value.name: value_of(to_array(table[value.name])) for value in program.values},
        Predicates({test.name: to_array(table[test.name]) for test in program.predicates}),
        without_time,
        table.select([FILE, POSITION] if program.in_rows else []),
    )


def with_arrivals(table: pa.Table, places: Iterable[tuple[str, int, int]]) -> pa.Table:
    """Return a table of inputs with columns that say where its events stood.

    A place is a file, a position in it, and the number of events that stand from there on.

    >>> arrived = with_arrivals(pa.table({"n": [7, 8, 9]}), [("a", 5, 2), ("b", 0, 1)])
    >>> arrived[FILE].to_pylist(), arrived[POSITION].to_pylist()
    (['a', 'a', 'b'], [5, 6, 0])
    """
    files, first, rows = zip(*places, strict=True)
    numbers = np.repeat(np.arange(len(files), dtype=np.int32), rows)
    names = pa.DictionaryArray.from_arrays(numbers, pa.array(files)).dictionary_decode().dictionary_encode()
    positions = np.concatenate([np.arange(start, start + count) for start, count in zip(first, rows, strict=True)])
    return table.append_column(FILE, names).append_column(POSITION, pa.array(positions))


def _as_spark_groups(keys: pa.Table) -> pa.Table:
    """Return the keys with one value for all that Spark groups together: 0.0 for -0.0, one NaN for all their bits."""
    for number, column in enumerate(keys.schema):
        if pa.types.is_floating(column.type):
            numbers = pc.add(keys[number], pa.scalar(0.0, column.type))
            one_nan = pc.if_else(pc.is_nan(numbers), pa.scalar(math.nan, column.type), numbers)
            keys = keys.set_column(number, column.name, one_nan)
        elif plain_type(column.type) == pa.binary() != column.type:  # Spark knows bytes of any length only
            keys = keys.set_column(number, column.name, keys[number].cast(pa.binary()))
    return keys


def value_of(column: pa.Array) -> Value:
    """Return the numbers and nulls of a column of any type a measure can fold.

    >>> value = value_of(pa.array([3, None, 5]))
    >>> value.numbers.tolist(), None if value.valid is None else value.valid.tolist()
    ([3, 0, 5], [True, False, True])
    """
    if pa.types.is_timestamp(column.type):
        column = column.cast(plain_type(column.type))
    valid = pc.is_valid(column).to_numpy(zero_copy_only=False) if column.null_count else None
    return Value(column, valid)


def microseconds(column: pa.Array) -> Ints:
    """Return timestamps of any unit as microseconds since the epoch.

    >>> microseconds(pa.array([2], pa.timestamp("s", "UTC"))).tolist()
    [2000000]
    """
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return np.asarray(column.view(pa.int64()))


def _numbers(column: pa.Array) -> Rows:
    kind = column.type
    if pa.types.is_floating(kind):
        return np.asarray(_fill_nulls(column.cast(pa.float64()), 0.0))
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return np.asarray(_fill_nulls(column.cast(pa.int64()), 0))
    if pa.types.is_timestamp(kind):
        return microseconds(_fill_nulls(column, pa.scalar(0, kind)))
    if pa.types.is_date32(kind):
        return np.asarray(_fill_nulls(column.view(pa.int32()).cast(pa.int64()), 0))
    if pa.types.is_decimal(kind) and is_short(kind):
        return split_words(column).low
    return text_ranks(column)


def _fill_nulls(column: pa.Array, value: Any) -> pa.Array:
    return pc.fill_null(column, value) if column.null_count else column


def text_ranks(values: pa.Array) -> Ints:
    """Return a number per text, ordered as Spark orders texts: byte by byte in UTF-8. Equal texts have equal numbers.

    Bytes and long decimals are numbered in the same way, in their own order.

    >>> text_ranks(pa.array(["b", "a", "é", "b"])).tolist()
    [1, 0, 2, 1]
    """
    encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    ranks = np.empty(len(encoded.dictionary) + 1, np.int64)
    ranks[np.asarray(pc.sort_indices(encoded.dictionary))] = np.arange(len(encoded.dictionary))
    ranks[-1] = 0
    ranked: Ints = ranks[np.asarray(pc.fill_null(encoded.indices.cast(pa.int64()), -1))]
    return ranked
