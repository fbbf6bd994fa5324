"""Group-by keys as numbers: a code per row, and the distinct keys the codes stand for.

A signature, which says by one bit each which predicates an event passes, is numbered like a key: those that occur,
never those that might.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.arrow import decode_dictionary
from jobs.engine.program.program import SIGNATURE
from jobs.kernels.arrays import Bools, Ints

LARGEST = (1 << 63) - 1  # a number of an int64
ROOMY = 4  # codes are laid out densely while there are at most this many per row
Bytes = npt.NDArray[np.uint8]


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


class Signatures(NamedTuple):
    """Event i has the signature codes[i]; signature s passes the predicates where tests[s] is true."""

    codes: Ints
    tests: Bools

    @property
    def passes_any(self) -> Bools:
        """Which signatures pass any predicate at all."""
        return np.asarray(self.tests.any(axis=1))

    def select(self, predicates: Sequence[int]) -> Signatures:
        """Return the signatures of some of the predicates alone; those that then are equal get one number."""
        if list(predicates) == list(range(self.tests.shape[1])):
            return self
        codes, tests = number_signatures(
            np.packbits(self.tests[:, predicates], axis=1, bitorder="little"), len(predicates)
        )
        return Signatures(codes[self.codes], tests)


def signatures(masks: Sequence[Bools]) -> Signatures:
    """Return the signatures of all events, from one mask per predicate.

    >>> signed = signatures([np.array([True, False, True]), np.array([True, True, True])])
    >>> signed.codes.tolist(), signed.tests.tolist()
    ([0, 1, 0], [[True, True], [False, True]])
    """
    events = len(masks[0])
    packed = np.zeros((-(-len(masks) // 8), events), np.uint8)
    shifted = np.empty(events, np.uint8)
    for bit, mask in enumerate(masks):
        np.left_shift(mask.view(np.uint8), bit % 8, out=shifted)
        packed[bit // 8] |= shifted
    return Signatures(*number_signatures(packed.T, len(masks)))


def signatures_of_classes(truths: Sequence[Bools], codes: Ints) -> Signatures:
    """Return the signatures of events of some classes, from the truth of every class by predicate.

    >>> signed = signatures_of_classes([np.array([True, False, True])], codes=np.array([2, 1, 1, 0]))
    >>> signed.codes.tolist(), signed.tests.tolist()
    ([0, 1, 1, 0], [[True], [False]])
    """
    of_class = signatures(truths)
    return Signatures(of_class.codes[codes], of_class.tests)


def join_signatures(parts: Sequence[tuple[Sequence[int], Signatures]]) -> Signatures:
    """Return the signatures of all predicates from those of some each, which come with the predicates' numbers.

    >>> first = Signatures(np.array([0, 1, 0]), np.array([[True], [False]]))
    >>> other = Signatures(np.array([0, 0, 1]), np.array([[True], [False]]))
    >>> joined = join_signatures([([1], first), ([0], other)])
    >>> joined.tests[joined.codes].tolist()
    [[True, True], [True, False], [False, True]]
    """
    if len(parts) == 1 and list(parts[0][0]) == sorted(parts[0][0]):
        return parts[0][1]
    codes, places = combine_codes([(signed.codes, len(signed.tests)) for _, signed in parts])
    tests = np.empty((len(places[0]), sum(len(numbers) for numbers, _ in parts)), np.bool_)
    for (numbers, signed), place in zip(parts, places, strict=True):
        tests[:, list(numbers)] = signed.tests[place]
    return Signatures(codes, tests)


def signature_column(tests: Bools) -> pa.Array:
    """Return signatures as a column of bytes, eight predicates to a byte; `unpack_signatures` reads them back."""
    return _binary(np.packbits(tests, axis=1, bitorder="little"))


def unpack_signatures(column: pa.ChunkedArray, predicates: int) -> Bools:
    """Return which predicates each of some signatures passes, from the bytes that `signature_column` made."""
    flat = column.combine_chunks()
    whole = pa.concat_arrays(flat.chunks) if isinstance(flat, pa.ChunkedArray) else flat
    width = whole.type.byte_width
    packed = np.frombuffer(whole.buffers()[1], np.uint8)[whole.offset * width : (whole.offset + len(whole)) * width]
    return _unpack_bits(packed.reshape(-1, width), predicates)


def sign_keys(keys: Keys, signatures: Signatures) -> Keys:
    """Return keys and signatures together as keys: what shards are grouped by."""
    parts = [(keys.codes, keys.distinct.num_rows), (signatures.codes, len(signatures.tests))]
    codes, (key, signature) = combine_codes(parts)
    column = signature_column(signatures.tests).take(pa.array(signature))
    return Keys(codes, keys.distinct.take(pa.array(key)).append_column(SIGNATURE, column))


def number_signatures(packed: Bytes, predicates: int) -> tuple[Ints, Bools]:
    """Return the number of every signature given as bytes, and which predicates each numbered signature passes."""
    encoded = _binary(packed).dictionary_encode()
    codes = np.asarray(encoded.indices).astype(np.int64)
    return codes, unpack_signatures(pa.chunked_array([encoded.dictionary]), predicates)


def _binary(packed: Bytes) -> pa.Array:
    content = pa.py_buffer(np.ascontiguousarray(packed))
    return pa.Array.from_buffers(pa.binary(packed.shape[1]), len(packed), [None, content])


def _unpack_bits(packed: Bytes, predicates: int) -> Bools:
    return np.unpackbits(packed, axis=1, count=predicates, bitorder="little").astype(np.bool_)
