"""Iceberg tables, by their snapshots: the files that appends added. A rewrite adds none; a delete is refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from typing import Any

import pyarrow as pa

from jobs.engine.sources.contract import (
    FIELD_ID,
    File,
    Snapshot,
    TableColumns,
    chain_snapshots,
    has_spark_type,
    write_values,
)
from optimizer.catalog.model.query import Stream
from optimizer.errors import HeddleError

CATALOG = "default"  # of pyiceberg's own settings, where the stream names none
ANEW = "evaluate into a new --warehouse, which begins with the table as it is then"
REWRITES = ("append", "replace")  # operations that take no event back


def list_files(stream: Stream) -> list[File]:
    """List the files of the table as it is now, the oldest first."""
    table = _open(stream)
    current = table.current_snapshot()
    return _files_of_snapshot(stream, table, current) if current else []


def read_columns(stream: Stream) -> TableColumns:
    """Return the columns of the table as it is now, by the ids of their fields."""
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    table = _open(stream)
    schema = schema_to_pyarrow(table.schema())
    read = [field for field in schema if not pa.types.is_nested(field.type) or has_spark_type(field.type)]
    types = {field.name: _plain(field.type) for field in read}
    fields = {field.name: field for field in table.schema().fields if field.name in types}
    absent = [name for name, field in fields.items() if getattr(field, "initial_default", None) is not None]
    if absent:
        raise HeddleError(
            f"{stream.written}: column {absent[0]} has an initial default, which is not read; drop the default"
        )
    unread = {field.name: str(field.type) for field in schema if field.name not in types}
    ids = {name: field.field_id for name, field in fields.items()}
    names = {entry.field_id: entry.names[0] for entry in _mapped(table.name_mapping() or ()) if entry.names}
    by_name = {name: names[id] for name, id in ids.items() if id in names}
    made = {name: _with_names(kind, names) for name, kind in types.items() if pa.types.is_nested(kind)}
    return TableColumns(types, by_name, ids, made, unread)


def list_snapshots(stream: Stream, offset: str) -> list[Snapshot]:
    """List the snapshots since an offset with the files that each added; at first, all files of the newest one.

    An offset is the table's uuid, the snapshot that the stream began with, and the last one that was read whole."""
    table = _open(stream)
    uuid, head = str(table.metadata.table_uuid), table.current_snapshot()
    if head is None and not offset:
        return []
    own = json.loads(offset) if offset else {"table": uuid, "start": head.snapshot_id, "done": None}
    if own["table"] != uuid or head is None:
        raise HeddleError(f"{stream.written}: is another table than the batches before have read; {ANEW}")
    versions: list[tuple[int, list[File]]] = []
    if own["done"] is None:
        begun = table.snapshot_by_id(own["start"])
        if begun is None:
            raise HeddleError(
                f"{stream.written}: the snapshot {own['start']}, with which it began, has expired; {ANEW}"
            )
        versions.append((own["start"], _files_of_snapshot(stream, table, begun)))
    since = own["start"] if own["done"] is None else own["done"]
    versions += [(each.snapshot_id, _appended(stream, table, each)) for each in _since(stream, table, head, since)]
    return chain_snapshots(json.dumps(own), [(json.dumps({**own, "done": id}), files) for id, files in versions])


def _open(stream: Stream) -> Any:
    from pyiceberg.catalog import load_catalog
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
    from sqlalchemy.exc import SQLAlchemyError

    uri, _, name = stream.path.rpartition("#")
    options = {key: text for key, text in stream.options.items() if key in ("type", "warehouse")}
    try:
        catalog = load_catalog(stream.options.get("catalog", CATALOG), **options, **({"uri": uri} if uri else {}))
        return catalog.load_table(name)
    except (NoSuchTableError, NoSuchNamespaceError):
        raise HeddleError(
            f"{name}: the Iceberg catalog has no such table; create it or mend `table` of stream {stream.name}"
        ) from None
    except (SQLAlchemyError, OSError, ValueError) as error:
        reason = str(error).splitlines()[0][:160]
        raise HeddleError(
            f"{name}: the Iceberg catalog of stream {stream.name} cannot be read ({reason}); mend its options"
        ) from None


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type that files are read in: what pyiceberg calls large is not in Parquet."""
    large = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    return large.get(kind, kind)


def _mapped(entries: Iterable[Any]) -> Iterator[Any]:
    """Yield the entries of a name mapping, which says what files without ids call columns and their parts."""
    for entry in entries:
        yield entry
        yield from _mapped(entry.fields)


def _with_names(kind: pa.DataType, names: Mapping[int, str]) -> pa.DataType:
    """Return a type with the names that files without ids have of its parts; they keep their ids."""
    if pa.types.is_map(kind):
        return pa.map_(_with_names(kind.key_type, names), _with_names(kind.item_type, names))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_with_names(kind.value_type, names))
    if not pa.types.is_struct(kind):
        return _plain(kind)
    parts = [(part, names.get(int(part.metadata[FIELD_ID]), part.name)) for part in kind]
    return pa.struct([part.with_name(name).with_type(_with_names(part.type, names)) for part, name in parts])


def _since(stream: Stream, table: Any, head: Any, last_read: int) -> list[Any]:
    """Return the snapshots after one, the oldest first; refuse a history that it is no part of."""
    snapshots = []
    current = head
    while current is not None and current.snapshot_id != last_read:
        snapshots.append(current)
        parent = current.parent_snapshot_id
        if parent == last_read:
            return snapshots[::-1]
        current = table.snapshot_by_id(parent) if parent is not None else None
    if current is None:
        raise HeddleError(
            f"{stream.written}: snapshot {last_read}, the last that was read, is no ancestor of the table's newest: "
            f"rolled back, or expired too soon; {ANEW}"
        )
    return []


def _files_of_snapshot(stream: Stream, table: Any, snapshot: Any) -> list[File]:
    entries = _entries(stream, table, snapshot, lambda manifest: True)
    ordered = sorted(entries, key=lambda entry: (entry.sequence_number or 0, entry.data_file.file_path))
    return [_file(stream, table, entry.data_file) for entry in ordered if int(entry.status) != DELETED]


DELETED, ADDED = 2, 1


def _appended(stream: Stream, table: Any, snapshot: Any) -> list[File]:
    """Return the files of one snapshot that brought events; refuse one that took some back."""
    operation = snapshot.summary.operation.value if snapshot.summary else "unknown"
    if operation not in REWRITES:
        raise HeddleError(
            f"{stream.written}: snapshot {snapshot.snapshot_id} deletes or updates rows ({operation}), and a stream "
            f"takes appends only; {ANEW}"
        )
    if operation == "replace":
        return []
    own = snapshot.snapshot_id
    entries = _entries(stream, table, snapshot, lambda manifest: manifest.added_snapshot_id == own)
    added = [entry.data_file for entry in entries if int(entry.status) == ADDED and entry.snapshot_id in (own, None)]
    return [_file(stream, table, file) for file in sorted(added, key=lambda file: str(file.file_path))]


def _entries(stream: Stream, table: Any, snapshot: Any, is_needed: Any) -> list[Any]:
    manifests = [manifest for manifest in snapshot.manifests(table.io) if is_needed(manifest)]
    if any(int(manifest.content) != 0 and _is_alive(manifest) for manifest in manifests):
        raise HeddleError(
            f"{stream.written}: snapshot {snapshot.snapshot_id} has delete files: rows were deleted, a stream takes "
            "appends only; rewrite the table's data files"
        )
    return [entry for manifest in manifests for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False)]


def _is_alive(manifest: Any) -> bool:
    return bool((manifest.existing_files_count or 0) + (manifest.added_files_count or 0))


def _file(stream: Stream, table: Any, file: Any) -> File:
    if file.file_format.value.lower() != "parquet":
        raise HeddleError(
            f"{stream.written}: {file.file_path} is {file.file_format.value}; only Parquet files are read"
        )
    path = str(file.file_path)
    path = path.removeprefix("file://") if path.startswith("file:///") else path.removeprefix("file:")
    return File(
        path.replace("s3://", "s3a://", 1), int(file.file_size_in_bytes), 0, write_values(_identities(table, file))
    )


def _identities(table: Any, file: Any) -> dict[str, str | None]:
    """Return the columns whose values are the partition's: for files that were added without them."""
    spec = table.specs()[file.spec_id]
    values: dict[str, str | None] = {}
    for number, field in enumerate(spec.fields):
        if str(field.transform) == "identity":
            name, kind = table.schema().find_column_name(field.source_id), table.schema().find_type(field.source_id)
            values[name or field.name] = _text(file.partition[number], str(kind))
    return values


def _text(value: Any, kind: str) -> str | None:
    if kind == "date" and isinstance(value, int):
        return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
    return None if value is None else str(value)
