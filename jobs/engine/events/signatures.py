"""Signatures: which predicates an event passes, one bit each. Those that occur are numbered, never those that might."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.engine.events.keys import Keys, combine_codes
from jobs.engine.program.program import SIGNATURE
from jobs.kernels.arrays import Bools, Ints

Bytes = npt.NDArray[np.uint8]


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
