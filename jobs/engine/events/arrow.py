"""Arrow tables: whole columns, and several tables in one stream, each with its label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyarrow import ipc

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
