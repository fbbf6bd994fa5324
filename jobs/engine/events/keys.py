"""Group-by keys as numbers: a code per row, and the distinct keys the codes stand for."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.arrow import decode_dictionary
from jobs.kernels.arrays import Ints

LARGEST = (1 << 63) - 1  # a number of an int64
ROOMY = 4  # codes are laid out densely while there are at most this many per row


class Keys(NamedTuple):
    """Row i has the key distinct[codes[i]]."""

    codes: Ints
    distinct: pa.Table


def key_codes(columns: pa.Table) -> Keys:
    """Number the distinct rows of some columns; null is a key like any other.

    >>> keys = key_codes(pa.table({"k": ["b", "a", "b", None]}))
    >>> keys.codes.tolist(), keys.distinct.to_pydict()
    ([0, 1, 0, 2], {'k': ['b', 'a', None]})
    """
    parts = [_column_codes(column) for column in columns.columns]
    if len(parts) == 1:
        return Keys(parts[0][0], pa.table([parts[0][1]], names=columns.column_names))
    combined = combine_codes([(codes, len(values)) for codes, values in parts])
    distinct = [values.take(pa.array(place)) for (_, values), place in zip(parts, combined.places, strict=True)]
    return Keys(combined.codes, pa.table(distinct, names=columns.column_names))


class Combined(NamedTuple):
    """Row i has the combination codes[i]; combination c is made of the code places[p][c] of every part p."""

    codes: Ints
    places: list[Ints]


def combine_codes(parts: Sequence[tuple[Ints, int]]) -> Combined:
    """Number the combinations of several codes that occur; each part comes with the number of codes it may have.

    As many parts at a time as a whole number of 63 bits tells apart: what occurs of them is numbered anew, which takes
    no more numbers than there are rows, and leaves room for the others.

    >>> codes, places = combine_codes([(np.array([0, 1, 0]), 2), (np.array([5, 0, 5]), 6)])
    >>> codes.tolist(), [place.tolist() for place in places]
    ([0, 1, 0], [[0, 1], [5, 0]])
    """
    numbers, possible = parts[0]
    counts = [max(1, count) for _, count in parts]
    joined = 1
    while joined < len(parts) and possible * counts[joined] <= LARGEST:
        numbers = numbers * counts[joined] + parts[joined][0]
        possible *= counts[joined]
        joined += 1
    used, codes = renumber_used(numbers, possible)
    places: list[Ints] = []
    rest = used
    for count in reversed(counts[1:joined]):
        rest, place = np.divmod(rest, count)
        places.insert(0, place)
    places.insert(0, rest)
    if joined == len(parts):
        return Combined(codes, places)
    combined = combine_codes([(codes, len(used)), *parts[joined:]])
    first = combined.places[0]
    return Combined(combined.codes, [*(place[first] for place in places), *combined.places[1:]])


def drop_unused_keys(keys: Keys) -> Keys:
    """Return the keys without those that no row has: a dictionary may list more values than occur."""
    used = np.bincount(keys.codes, minlength=keys.distinct.num_rows) > 0
    if used.all():
        return keys
    return Keys((np.cumsum(used) - 1)[keys.codes], keys.distinct.filter(pa.array(used)))


def renumber_used(numbers: Ints, possible: int) -> tuple[Ints, Ints]:
    """Return the numbers that occur, of 0 to `possible` - 1, and for every entry which of them it is.

    >>> used, places = renumber_used(np.array([7, 2, 7]), 10)
    >>> used.tolist(), places.tolist()
    ([2, 7], [1, 0, 1])
    """
    if possible > ROOMY * len(numbers) + 65_536:
        encoded = pa.array(numbers).dictionary_encode()
        return np.asarray(encoded.dictionary), np.asarray(encoded.indices).astype(np.int64)
    used = np.bincount(numbers, minlength=possible) > 0
    return np.flatnonzero(used), (np.cumsum(used) - 1)[numbers]


def _column_codes(column: pa.ChunkedArray) -> tuple[Ints, pa.Array]:
    dictionary = pa.types.is_dictionary(column.type)
    values = column.type.value_type if dictionary else column.type
    if not len(column):
        return np.empty(0, np.int64), pa.array([], values)
    if column.null_count == len(column):
        return np.zeros(len(column), np.int64), pa.nulls(1, values)
    if dictionary and not column.null_count:
        encoded = column.unify_dictionaries().combine_chunks()
    else:
        encoded = column.cast(values).combine_chunks().dictionary_encode(null_encoding="encode")
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    indices, distinct = encoded.indices, encoded.dictionary
    # Arrow does not look for values that a dictionary has twice; those of keys of several columns do have some
    once = distinct.dictionary_encode(null_encoding="encode") if dictionary else encoded
    if len(once.dictionary) < len(distinct):
        indices, distinct = once.indices.take(indices), once.dictionary
    return indices.to_numpy(zero_copy_only=False).astype(np.int64), distinct


def bucket_numbers(keys: pa.Table, count: int) -> Ints:
    """Return the bucket of every key by a digest of its values: the same in every process and every run.

    >>> bucket_numbers(pa.table({"k": ["a", "b", "a"]}), 4).tolist()
    [3, 1, 3]
    """
    if count == 1 or not keys.num_rows:
        return np.zeros(keys.num_rows, np.int64)
    digested = pc.binary_join_element_wise(
        *(_bytes_of(column) for column in keys.columns), b"\x00", null_handling="replace", null_replacement=b"\x01"
    )
    return np.fromiter(map(zlib.crc32, digested.to_pylist()), np.int64, keys.num_rows) % count


def _bytes_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return every value as bytes: those of its text, which need not be UTF-8, or its own."""
    values = decode_dictionary(column)
    return (values if pa.types.is_binary(values.type) else values.cast(pa.string())).cast(pa.binary())


def dictionary_column(keys: pa.Array, index: npt.NDArray[np.integer[Any]]) -> pa.Array:
    """Return the keys at some rows as a dictionary column; null is none of its values (Arrow could not unify them)."""
    if not keys.null_count:
        return pa.DictionaryArray.from_arrays(pa.array(index.astype(np.int32, copy=False)), keys)
    valid = keys.is_valid().to_numpy(zero_copy_only=False)
    among_valid = (np.cumsum(valid) - 1).astype(np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(among_valid[index], mask=~valid[index]), keys.drop_null())
