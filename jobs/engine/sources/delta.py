"""Delta tables, by their own log: the files that appends added; a rewrite adds none, a delete or update is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.sources.contract import (
    FIELD_ID,
    File,
    Snapshot,
    TableColumns,
    chain_snapshots,
    has_spark_type,
    write_values,
)
from jobs.host.storage import Storage
from optimizer.catalog.model.query import Stream
from optimizer.errors import HeddleError

PHYSICAL = "delta.columnMapping.physicalName"
NUMBER = "delta.columnMapping.id"
ANEW = "evaluate into a new --warehouse, which begins with the table as it is then"


def list_files(stream: Stream) -> list[File]:
    """List the files of the table as it is now, the oldest first."""
    return _files_of_version(stream, _open(stream))


def read_columns(stream: Stream) -> TableColumns:
    """Return the columns of the table as it is now, under column mapping with what files call them and their parts."""
    table = _open(stream)
    schema, mode = pa.schema(table.schema().to_arrow()), _mode(table)
    if mode == "none":
        return TableColumns(_types(schema))
    types = {
        name: kind for name, kind in _types(schema).items() if not pa.types.is_nested(kind) or has_spark_type(kind)
    }
    unread = {name: str(kind) for name, kind in _types(schema).items() if name not in types}
    entries = {entry["name"]: entry for entry in json.loads(table.schema().to_json())["fields"]}
    names = {name: str(entries[name]["metadata"][PHYSICAL]) for name in types}
    ids = {name: int(entries[name]["metadata"][NUMBER]) for name in types} if mode == "id" else {}
    made = {n: _with_names(kind, entries[n]["type"]) for n, kind in types.items() if pa.types.is_nested(kind)}
    return TableColumns(types, names, ids, made, unread)


def _with_names(kind: pa.DataType, entry: Any) -> pa.DataType:
    """Return a type with the names and the ids that files have of its parts, by the table's schema."""
    if pa.types.is_map(kind):
        return pa.map_(_with_names(kind.key_type, entry["keyType"]), _with_names(kind.item_type, entry["valueType"]))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_with_names(kind.value_type, entry["elementType"]))
    if not pa.types.is_struct(kind):
        return kind
    facts = [(part, own["type"], own["metadata"]) for part, own in zip(kind, entry["fields"], strict=True)]
    return pa.struct(
        [
            pa.field(own[PHYSICAL], _with_names(part.type, below), metadata={FIELD_ID: str(own[NUMBER])})
            for part, below, own in facts
        ]
    )


def list_snapshots(stream: Stream, offset: str) -> list[Snapshot]:
    """List the versions since an offset with the files that each added; at first, all files of the newest version.

    An offset is the table's id, the version that the stream began with, and the last one that was read whole."""
    head = _open(stream)
    own = json.loads(offset) if offset else {"table": str(head.metadata().id), "start": head.version(), "done": None}
    if own["table"] != str(head.metadata().id) or head.version() < own["start"]:
        raise HeddleError(f"{stream.written}: is another table than the batches before have read; {ANEW}")
    versions: list[tuple[int, list[File]]] = []
    if own["done"] is None:
        begun = head if own["start"] == head.version() else _open(stream, own["start"])
        versions.append((own["start"], _files_of_version(stream, begun)))
    first = own["start"] + 1 if own["done"] is None else own["done"] + 1
    versions += [(number, _appended(stream, head, number)) for number in range(first, head.version() + 1)]
    return chain_snapshots(
        json.dumps(own), [(json.dumps({**own, "done": number}), files) for number, files in versions]
    )


def _open(stream: Stream, version: int | None = None) -> Any:
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError, TableNotFoundError

    place = stream.path.replace("s3a://", "s3://", 1)
    try:
        return DeltaTable(place, version=version)
    except TableNotFoundError:
        raise HeddleError(
            f"{stream.path}: there is no Delta table; create it or mend `path` of stream {stream.name}"
        ) from None
    except (DeltaError, OSError) as error:
        at_version = "" if version is None else f" at version {version}, with which the stream began"
        raise HeddleError(
            f"{stream.path}: the Delta table cannot be read{at_version} ({str(error).splitlines()[0][:160]})"
        ) from None


def _mode(table: Any) -> str:
    return str(table.metadata().configuration.get("delta.columnMapping.mode", "none"))


def _types(schema: pa.Schema) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in schema}


def _files_of_version(stream: Stream, table: Any) -> list[File]:
    if "deletionVectors" in (table.protocol().reader_features or ()):
        masked = pa.table(table.deletion_vectors())
        if masked.num_rows:
            raise _deletion_vectors(stream, table.version())
    actions = pa.table(table.get_add_actions()).sort_by([("modification_time", "ascending"), ("path", "ascending")])
    values = _texts(actions["partition"].combine_chunks()) if "partition" in actions.column_names else {}
    logical = _logical_names(table)
    rows = zip(*(actions[name].to_pylist() for name in ("path", "size_bytes", "modification_time")), strict=True)
    return [
        _file(stream, path, size, time, {logical.get(name, name): column[row] for name, column in values.items()})
        for row, (path, size, time) in enumerate(rows)
    ]


def _texts(values: pa.StructArray) -> dict[str, list[str | None]]:
    return {field.name: pc.cast(pc.struct_field(values, field.name), pa.string()).to_pylist() for field in values.type}


def _appended(stream: Stream, head: Any, version: int) -> list[File]:
    """Return the files of one commit that brought events; refuse a commit that took some back."""
    logical, files = _logical_names(head), []
    operation = "WRITE"
    for action in _actions(stream, version):
        operation = action.get("commitInfo", {}).get("operation", operation)
        if action.get("remove", {}).get("dataChange"):
            raise HeddleError(
                f"{stream.path}: version {version} deletes or updates rows ({operation}), and a stream takes appends "
                f"only; {ANEW}"
            )
        added = action.get("add", {})
        if added.get("deletionVector"):
            raise _deletion_vectors(stream, version)
        if added.get("dataChange"):
            values = {logical.get(name, name): text or None for name, text in added["partitionValues"].items()}
            files.append(_file(stream, added["path"], added["size"], added["modificationTime"], values))
    return files


def _actions(stream: Stream, version: int) -> Iterator[dict[str, Any]]:
    try:
        content = Storage(stream.path).read(f"_delta_log/{version:020d}.json")
    except OSError:
        raise HeddleError(
            f"{stream.path}: the log of version {version} is gone, before a batch has read it; {ANEW}"
        ) from None
    yield from map(json.loads, content.decode().splitlines())


def _logical_names(table: Any) -> dict[str, str]:
    """Return the names of columns by what the log calls them, under column mapping."""
    if _mode(table) == "none":
        return {}
    return {field["metadata"][PHYSICAL]: field["name"] for field in json.loads(table.schema().to_json())["fields"]}


def _file(stream: Stream, path: str, size: int, milliseconds: int, values: Mapping[str, str | None]) -> File:
    if "://" in path or path.startswith("/"):
        raise HeddleError(f"{path}: is outside of the table {stream.path}, as in a clone, which is not read")
    place = Storage(stream.path)
    return File(place.uri(unquote(path)), int(size), 0, write_values(values))


def _deletion_vectors(stream: Stream, version: int) -> HeddleError:
    return HeddleError(
        f"{stream.path}: version {version} has deletion vectors: rows were deleted, and a stream takes appends only; "
        "rewrite the table (REORG TABLE ... APPLY (PURGE)) and turn them off"
    )
