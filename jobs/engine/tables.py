"""Several Arrow tables in one file or one blob: one stream after another, each with its label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyarrow import ipc

from jobs.engine.storage import Storage
from optimizer.errors import HeddleError

LABEL = b"heddle.label"
PLAIN = ipc.IpcWriteOptions()
COMPRESSED = ipc.IpcWriteOptions(compression="lz4")


def whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column as one array; copied only if it comes in parts."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [pa.array([], column.type)])


def pack(tables: Mapping[str, pa.Table]) -> bytes:
    """Tables as bytes, not compressed: Spark's shuffle does that."""
    sink = pa.BufferOutputStream()
    _write(sink, tables, COMPRESSED)
    return bytes(sink.getvalue())


def unpack(content: bytes) -> dict[str, pa.Table]:
    """Tables from bytes."""
    return _read(pa.BufferReader(content))


def save(storage: Storage, name: str, tables: Mapping[str, pa.Table]) -> int:
    """Write tables to a file nobody else writes; what a failed task leaves behind is swept later. A local disk is
    faster than a compressor, a network is not."""
    with storage.filesystem.open_output_stream(storage.path(name)) as sink:
        _write(sink, tables, PLAIN if storage.local else COMPRESSED)
    return int(storage.filesystem.get_file_info(storage.path(name)).size)


def load(storage: Storage, name: str) -> dict[str, pa.Table]:
    """Read the tables of a file, all or none."""
    try:
        with storage.filesystem.open_input_file(storage.path(name)) as source:
            return _read(pa.BufferReader(source.read()))
    except (OSError, pa.ArrowException, KeyError, TypeError, UnicodeDecodeError):
        raise HeddleError(
            f"{storage.path(name)}: is damaged or missing; restore this file from a backup, then run again"
        ) from None


def _write(sink: Any, tables: Mapping[str, pa.Table], options: ipc.IpcWriteOptions) -> None:
    for label, table in tables.items():
        labelled = table.replace_schema_metadata({LABEL: label.encode()})
        with ipc.new_stream(sink, labelled.schema, options=options) as writer:
            writer.write_table(labelled)


def _read(source: Any) -> dict[str, pa.Table]:
    tables = {}
    while source.tell() < source.size():
        with ipc.open_stream(source) as reader:
            table = reader.read_all()
        tables[table.schema.metadata[LABEL].decode()] = table
    return tables
