"""Decimals without their point, as Arrow keeps them: whole numbers of 128 bits, each a low and a high word of 64."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from jobs.kernels.arrays import Bools, Ints


class Words(NamedTuple):
    """Numbers of 128 bits: high * 2**64 + low, where the low word is taken as one without a sign."""

    low: Ints
    high: Ints


def split_words(column: pa.Array) -> Words:
    """Return the words of decimals; under a null they mean nothing.

    >>> from decimal import Decimal
    >>> [word.tolist() for word in split_words(pa.array([Decimal("1.25"), Decimal("-0.01")], pa.decimal128(9, 2)))]
    [[125, -1], [0, -1]]
    """
    words = np.frombuffer(column.buffers()[1] or b"", np.int64).reshape(-1, 2)[column.offset :][: len(column)]
    return Words(np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1]))


def join_words(kind: pa.DataType, words: Words, valid: Bools | None = None) -> pa.Array:
    """Return decimals of words, null where they are not valid.

    >>> words = Words(np.array([125, -1]), np.array([0, -1]))
    >>> [str(value) for value in join_words(pa.decimal128(9, 2), words)]
    ['1.25', '-0.01']
    """
    bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    data = pa.py_buffer(np.stack(words, axis=1))
    return pa.Array.from_buffers(kind, len(words.low), [bits, data])


def find_too_large(words: Words, precision: int) -> Bools:
    """Return which numbers have more digits than that.

    >>> find_too_large(Words(np.array([999, 1000, -1000]), np.array([0, 0, -1])), 3).tolist()
    [False, True, True]
    """
    limit = 10**precision
    return ~_is_below(words, limit) | _is_below(words, 1 - limit)


def _is_below(words: Words, limit: int) -> Bools:
    high, low = np.int64(limit >> 64), np.uint64(limit & ((1 << 64) - 1))
    below: Bools = (words.high < high) | ((words.high == high) & (words.low.view(np.uint64) < low))
    return below
