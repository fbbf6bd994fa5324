"""Arrow's memory: whole columns, decimals as the words they are made of, and several labelled tables in one stream.

A decimal is kept without its point, as a whole number of 128 bits: a low and a high word of 64.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from jobs.kernels.arrays import Bools, Ints

LABEL = b"heddle.label"
PLAIN = ipc.IpcWriteOptions()
COMPRESSED = ipc.IpcWriteOptions(compression="lz4")


def to_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column as one array; it is copied only if it comes in parts.

    >>> to_array(pa.chunked_array([[1, 2], [3]])).to_pylist()
    [1, 2, 3]
    """
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [pa.array([], column.type)])


def decode_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column's values without the dictionary that encodes them, if one does.

    >>> decode_dictionary(pa.chunked_array([pa.array(["a", "b", "a"]).dictionary_encode()])).type
    DataType(string)
    """
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def write_tables(sink: Any, tables: Mapping[str, pa.Table], options: ipc.IpcWriteOptions) -> None:
    """Write tables one after another, each with its label."""
    for label, table in tables.items():
        labelled = table.replace_schema_metadata({LABEL: label.encode()})
        with ipc.new_stream(sink, labelled.schema, options=options) as writer:
            writer.write_table(labelled)


def read_tables(source: Any) -> dict[str, pa.Table]:
    """Read every table of a source, by its label."""
    tables = {}
    while source.tell() < source.size():
        with ipc.open_stream(source) as reader:
            table = reader.read_all()
        tables[table.schema.metadata[LABEL].decode()] = table
    return tables


def in_utc(table: pa.Table) -> pa.Table:
    """Return a table whose instants say UTC: Spark's say the zone of its session, and are the same instants.

    >>> in_utc(pa.table({"at": pa.array([0], pa.timestamp("us", "Asia/Tokyo"))})).schema.field("at").type
    TimestampType(timestamp[us, tz=UTC])
    """
    for number, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type) and field.type.tz not in (None, "UTC"):
            table = table.set_column(number, field.name, table[number].cast(pa.timestamp(field.type.unit, "UTC")))
    return table


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
