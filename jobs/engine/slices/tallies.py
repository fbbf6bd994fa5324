"""Tallies as columns: for every slice two lists, its values (or registers) in order and a number for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.arrow import decode_dictionary, to_array
from jobs.engine.events.columns import Value, value_of
from jobs.engine.program.program import MeasureProgram
from jobs.kernels.arrays import Bools, Column, Ints
from jobs.kernels.tallies.merge import Merged, merge_entries, order_codes
from jobs.kernels.tallies.registers import Hashes, hash_ints, hash_longs, hash_texts, precision_of, rank_hashes

REGISTERS = "registers"
RANKS = pa.uint8()


class Tally(NamedTuple):
    """Slice s owns the entries offsets[s]..offsets[s + 1]: a value (or the number of a register), and its number."""

    offsets: Ints
    values: pa.Array
    numbers: Ints

    @property
    def codes(self) -> Ints:
        """Whole numbers in the order of the values, equal where these are.

        >>> Tally(np.array([0, 3]), pa.array(["b", "a", "b"]), np.array([1, 1, 1])).codes.tolist()
        [1, 0, 1]
        """
        return order_codes(value_of(self.values).numbers)


def tally_events(
    measure: MeasureProgram, value: Value, valid: Bools | None, positions: Ints | None
) -> tuple[Ints, Tally]:
    """Return the events that count among those at some positions (None: all), by their places there, and a tally of
    one entry for each.

    >>> distinct = MeasureProgram("d", "registers", 0, "int64", "x", "", "", deviation=0.3)
    >>> places, tally = tally_events(distinct, value_of(pa.array([7, 5, 7])), np.array([True, False, True]), None)
    >>> places.tolist(), tally.values[0] == tally.values[1]  # equal values have the same register
    ([0, 2], True)
    """
    column = value.column if positions is None else value.column.take(pa.array(positions))
    places = np.arange(len(column)) if valid is None else np.flatnonzero(valid)
    if len(places) < len(column):
        column = column.take(pa.array(places))
    ones = np.ones(len(places), np.int64)
    if measure.component == REGISTERS:
        registers, ones = rank_hashes(hash_values(column), precision_of(measure.deviation))
        column = pa.array(registers.astype(np.int32))
    return places, Tally(np.arange(len(places) + 1), decode_dictionary(column), ones)


def fold_tally(measure: MeasureProgram, events: tuple[Ints, Tally], cell: Ints, cells: int) -> dict[str, pa.Array]:
    """Return the columns of a measure, from the cells of all events and a tally of those that count.

    >>> distinct = MeasureProgram("d", "registers", 0, "int64", "x", "", "")
    >>> tally = Tally(np.arange(4), pa.array([9, 4, 9]), np.array([1, 3, 2]))  # three events: registers and ranks
    >>> columns = fold_tally(distinct, (np.array([0, 1, 2]), tally), cell=np.array([0, 0, 0]), cells=1)
    >>> {name: column.to_pylist() for name, column in columns.items()}
    {'values d': [[4, 9]], 'numbers d': [[3, 2]]}
    """
    places, tally = events
    return _columns(measure, tally, _merge(measure, tally, cell[places], cells))


def merge_tallies(
    measure: MeasureProgram,
    carried: Mapping[str, pa.Array],
    rows: Ints | None,
    cell: Ints,
    cells: int,
    source: MeasureProgram | None = None,
) -> dict[str, pa.Array]:
    """Return the columns of a measure, merged from those of partials: row rows[i] of them falls into cell[i].

    They are the measure's own, or those of another one, `source`.

    >>> distinct = MeasureProgram("d", "registers", 0, "int64", "x", "", "")
    >>> slices = {"values d": pa.array([[4, 9], [9]]), "numbers d": pa.array([[1, 2], [5]])}
    >>> columns = merge_tallies(distinct, slices, None, cell=np.array([0, 0]), cells=1)
    >>> {name: column.to_pylist() for name, column in columns.items()}
    {'values d': [[4, 9]], 'numbers d': [[1, 5]]}
    """
    tally = read_tally(source or measure, carried, rows)
    entries = np.repeat(cell, np.diff(tally.offsets))
    return _columns(measure, tally, _merge(measure, tally, entries, cells))


def read_tally(measure: MeasureProgram, carried: Mapping[str, pa.Array], rows: Ints | None = None) -> Tally:
    """Return the tally of some slices, or of all, from their columns.

    >>> distinct = MeasureProgram("d", "registers", 0, "int64", "x", "", "")
    >>> slices = {"values d": pa.array([[4, 9], [9]]), "numbers d": pa.array([[1, 2], [5]])}
    >>> tally = read_tally(distinct, slices)
    >>> tally.offsets.tolist(), tally.values.to_pylist(), tally.numbers.tolist()
    ([0, 2, 3], [4, 9, 9], [1, 2, 5])
    """
    values, numbers = (to_array(carried[name]) for name in measure.tally)
    if rows is not None:
        values, numbers = values.take(pa.array(rows)), numbers.take(pa.array(rows))
    sizes = pc.fill_null(pc.list_value_length(values), 0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return Tally(offsets, values.flatten(), np.asarray(numbers.flatten().cast(pa.int64())))


def _merge(measure: MeasureProgram, tally: Tally, cell: Ints, cells: int) -> Merged:
    return merge_entries(cells, cell, tally.codes, tally.numbers, largest=measure.component == REGISTERS)


def _columns(measure: MeasureProgram, tally: Tally, merged: Merged) -> dict[str, pa.Array]:
    offsets = pa.array(merged.offsets.astype(np.int32))
    numbers = pa.array(merged.numbers)
    if measure.component == REGISTERS:
        numbers = numbers.cast(RANKS)
    lists = (tally.values.take(pa.array(merged.entry)), numbers)
    return {name: pa.ListArray.from_arrays(offsets, column) for name, column in zip(measure.tally, lists, strict=True)}


def hash_values(column: pa.Array) -> Hashes:
    """Return the hashes of values without a null, as Spark hashes values of their type.

    >>> hash_values(pa.array(["a", "b", "a"])).tolist()[::2]
    [9864288744972464332, 9864288744972464332]
    >>> hash_values(pa.array([1.0, -0.0, 0.0])).tolist()[1:]
    [13194218611613725804, 13194218611613725804]
    """
    if pa.types.is_dictionary(column.type):
        of_value: Hashes = hash_values(column.dictionary)[np.asarray(column.indices)]
        return of_value
    kind = column.type
    if pa.types.is_floating(kind):
        return _hash_floats(np.asarray(column), kind)
    if pa.types.is_decimal(kind):
        return _hash_decimals(column, kind.precision)
    if pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_large_string(kind):
        return _hash_texts(column)
    numbers = np.require(value_of(column).numbers, np.int64, ["C", "W"])
    if pa.types.is_timestamp(kind) or pa.types.is_int64(kind):
        return hash_longs(numbers)
    return hash_ints(numbers)


def _hash_floats(numbers: Column, kind: pa.DataType) -> Hashes:
    plain = np.where(numbers != numbers, np.nan, numbers + 0).astype(numbers.dtype)  # one NaN, and no -0.0
    if kind.bit_width == 32:
        return hash_ints(plain.view(np.int32).astype(np.int64))
    return hash_longs(plain.view(np.int64))


def _hash_texts(column: pa.Array) -> Hashes:
    encoded = column.dictionary_encode()
    texts = encoded.dictionary.cast(pa.large_binary())
    _, offsets, data = texts.buffers()
    places = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1].copy()
    letters = np.frombuffer(data, np.uint8).copy() if data is not None and data.size else np.zeros(0, np.uint8)
    hashes: Hashes = hash_texts(letters, places)[np.asarray(encoded.indices)]
    return hashes


def _hash_decimals(column: pa.Array, precision: int) -> Hashes:
    """Hash decimals of up to 18 digits as numbers of 64 bits, longer ones as the shortest bytes of a whole number."""
    encoded = column.dictionary_encode()
    scale = column.type.scale
    wholes = [int(value.scaleb(scale)) for value in encoded.dictionary.to_pylist()]
    if precision <= 18:
        hashes = hash_longs(np.array(wholes, np.int64))
    else:
        texts = [_shortest_bytes(whole) for whole in wholes]
        hashes = hash_texts(np.frombuffer(b"".join(texts), np.uint8).copy(), np.cumsum([0, *map(len, texts)]))
    of_value: Hashes = hashes[np.asarray(encoded.indices)]
    return of_value


def _shortest_bytes(whole: int) -> bytes:
    return whole.to_bytes((whole if whole >= 0 else ~whole).bit_length() // 8 + 1, "big", signed=True)
