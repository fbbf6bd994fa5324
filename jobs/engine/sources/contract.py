"""What a source gives: files with their offset, and how a table's files hold its columns.

The files of a folder (parquet, csv, json, orc) have one listing, consumed or not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import fs

from jobs.host.storage import Storage
from optimizer.catalog.model.query import Stream
from optimizer.catalog.model.source_files import Found, reads_below, select_files
from optimizer.catalog.spark_types.parquet import folder_columns
from optimizer.errors import HeddleError

ARROW: dict[str, pa.DataType] = {  # Spark's names of the types that columns of events and answers may have
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}


FIELD_ID = b"PARQUET:field_id"
LEAVES = {*ARROW.values(), pa.large_string(), pa.binary(), pa.large_binary()}  # of what is made of others


class File(NamedTuple):
    """A file as it was listed. One that has another size or time now is another file."""

    path: str
    size: int
    modified: int = 0  # nanoseconds since the epoch; 0 where nobody has written it down
    values: str = ""  # of columns that a table keeps beside the file: JSON, texts by name


def list_files(source: Stream) -> list[File]:
    """List the files of a stream, the oldest first: those that Spark's reader takes under the stream's options."""
    storage = Storage(source.path)
    root = storage.path("").rstrip("/")
    infos = _infos(storage, root, source)
    prefix = len(root) + 1
    by_name = {info.path[prefix:]: info for info in infos if info.is_file}
    names = select_files(source, (Found(name, _microseconds(info)) for name, info in by_name.items()))
    above = storage.uri("")
    files = [_file(by_name[name], above + name) for name in names]
    return sorted(files, key=lambda file: (file.modified, file.path))


def _infos(storage: Storage, root: str, source: Stream) -> Sequence[Any]:
    try:
        return list(storage.filesystem.get_file_info(fs.FileSelector(root, recursive=True)))
    except (FileNotFoundError, NotADirectoryError):
        raise _no_folder(source.path) from None
    except OSError as error:
        reason = str(error).splitlines()[0][:200]
        raise HeddleError(f"{source.path}: cannot be listed ({reason}); run again when it can be") from None


def _no_folder(path: str) -> HeddleError:
    hint = "; a pattern of names is an option, pathGlobFilter" if any(char in path for char in "*?[{") else ""
    return HeddleError(f"{path}: there is no such folder; create it or mend `path` in the catalog{hint}")


def require_folder(source: Stream) -> None:
    """Refuse a stream of files on this machine whose folder is not there, before anything is started to read it."""
    storage = Storage(source.path)
    if storage.local and not Path(storage.path("")).is_dir():
        raise _no_folder(source.path)


def current_files(paths: Iterable[str]) -> list[File]:
    """Return files as they are now, without those that have vanished."""
    files = []
    for folder, members in _by_folder(paths).items():
        storage = Storage(folder)
        infos = storage.filesystem.get_file_info([storage.path(path.rpartition("/")[2]) for path in members])
        files += [_file(info, path) for path, info in zip(members, infos, strict=True) if info.is_file]
    return files


def data_files(source: Stream, files: Sequence[File]) -> list[File]:
    """Return those of some files that are data of a stream; where Spark has listed them, not all are."""
    prefix = len(Storage(source.path).uri(""))
    names = {file.path[prefix:]: file for file in files}
    candidates = (Found(name, file.modified // 1_000_000 * 1000) for name, file in names.items())
    return [names[name] for name in select_files(source, candidates)]


def folder_types(source: Stream, files: Iterable[File]) -> dict[str, str]:
    """Return the columns that the folders of a stream's files name, and the types that Spark infers of them."""
    if reads_below(source):
        return {}
    prefix = len(Storage(source.path).uri(""))
    return folder_columns(file.path[prefix:] for file in files)


def _by_folder(paths: Iterable[str]) -> dict[str, list[str]]:
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    return folders


def _file(info: Any, path: str) -> File:
    return File(path, int(info.size), int(info.mtime_ns or 0))


def _microseconds(info: Any) -> int:
    """Return when a file was written; Spark knows it by the millisecond."""
    return int(info.mtime_ns or 0) // 1_000_000 * 1000


class Snapshot(NamedTuple):
    """A version of a table: the files with the events that it added, and the offsets of who has read none or all."""

    before: str
    offset: str
    files: Sequence[File]


@dataclass(frozen=True)
class TableColumns:
    """The columns as a table's own schema has them, and how to find them in a file of any age."""

    types: Mapping[str, pa.DataType]
    names: Mapping[str, str] = field(default_factory=dict)  # in the files, where they are not the table's
    ids: Mapping[str, int] = field(default_factory=dict)  # of the fields in the files, where they count before names
    made: Mapping[str, pa.DataType] = field(
        default_factory=dict
    )  # of columns that are made of others: their types, the
    # parts by the names, and with the ids as metadata, that files have; left out where those are the table's names
    unread: Mapping[str, str] = field(default_factory=dict)  # columns of types that Spark lacks

    def find(self, schema: pa.Schema) -> dict[str, str]:
        """Return what a file calls those of the columns that it has.

        >>> columns = TableColumns({"x": pa.int64(), "y": pa.int64()}, {"x": "col-1"})
        >>> columns.find(pa.schema([("col-1", pa.int64())]))
        {'x': 'col-1'}
        """
        numbers = dict(_field_ids(schema)) if self.ids else {}
        if numbers:
            return {name: numbers[id] for name, id in self.ids.items() if id in numbers}
        own = set(schema.names)
        physical_names = {name: self.names.get(name, name) for name in self.types}
        return {name: physical for name, physical in physical_names.items() if physical in own}

    def made_in(self, schema: pa.Schema) -> dict[str, pa.DataType]:
        """Return the types of columns that are made of others, their parts by the names that a file has."""
        if not (self.ids and _field_ids(schema)):
            return dict(self.made)
        own = self.find(schema)
        types = {name: schema.field(own[name]).type if name in own else None for name in self.made}
        return {name: _with_names_of(kind, types[name]) for name, kind in self.made.items()}


def _field_ids(schema: Iterable[pa.Field]) -> list[tuple[int, str]]:
    fields = [(field, (field.metadata or {}).get(FIELD_ID)) for field in schema]
    return [(int(id), field.name) for field, id in fields if id is not None]


def _with_names_of(kind: pa.DataType, there: pa.DataType | None) -> pa.DataType:
    """Return a type with the names that a file has of parts with the same ids; what it lacks is called as no part is.

    >>> def part(name: str, id: int) -> pa.Field:
    ...     return pa.field(name, pa.int64(), metadata={FIELD_ID: str(id)})
    >>> str(_with_names_of(pa.struct([part("a", 1), part("b", 2)]), pa.struct([part("b", 1)])))
    'struct<b: int64, b of no file: int64>'
    """
    if pa.types.is_map(kind):
        own = there if there is not None and pa.types.is_map(there) else None
        parts = ((kind.key_type, own and own.key_type), (kind.item_type, own and own.item_type))
        return pa.map_(*(_with_names_of(*both) for both in parts))
    if pa.types.is_list(kind):
        own = there if there is not None and pa.types.is_list(there) else None
        return pa.list_(_with_names_of(kind.value_type, own and own.value_type))
    if not pa.types.is_struct(kind):
        return kind
    fields = {id: there.field(name) for id, name in _field_ids(there)} if there and pa.types.is_struct(there) else {}
    both = [(part, fields.get(int(part.metadata[FIELD_ID]))) for part in kind]
    return pa.struct(
        [
            pa.field(own.name if own else name_absent(part.name), _with_names_of(part.type, own and own.type))
            for part, own in both
        ]
    )


def name_absent(name: str) -> str:
    """Return a name that no file has: what a file lacks may be called as something else was, and is null."""
    return f"{name} of no file"


def has_spark_type(kind: pa.DataType) -> bool:
    """Say whether Spark has a type for values that are made of others.

    >>> has_spark_type(pa.list_(pa.int64())), has_spark_type(pa.struct([("at", pa.time64("us"))]))
    (True, False)
    """
    parts = [kind.field(place).type for place in range(kind.num_fields)]
    if parts:
        return all(map(has_spark_type, parts))
    return kind in LEAVES or pa.types.is_decimal(kind) or pa.types.is_fixed_size_binary(kind)


def chain_snapshots(before: str, versions: Sequence[tuple[str, Sequence[File]]]) -> list[Snapshot]:
    """Return versions, each an offset with its files, as snapshots that follow one another from an offset on.

    >>> [(each.before, each.offset) for each in chain_snapshots("0", [("1", []), ("2", [])])]
    [('0', '1'), ('1', '2')]
    """
    befores = [before, *(offset for offset, _ in versions)]
    return [Snapshot(start, offset, files) for start, (offset, files) in zip(befores, versions, strict=False)]


def list_nothing(stream: Stream) -> list[File]:
    """Return no files: Spark itself lists the source."""
    return []


@dataclass(frozen=True)
class Source:
    """How one format is read: `list_files` always; the others where a table's own log says what is new."""

    list_files: Callable[[Stream], list[File]]  # all that is there now, the oldest first
    list_snapshots: Callable[[Stream, str], list[Snapshot]] | None = None  # since an offset; "" for all
    read_columns: Callable[[Stream], TableColumns] | None = None
    land: Callable[[Stream], None] | None = None  # makes files of what is none
    tend: Callable[[Stream, str], list[str]] | None = None  # of who has read up to an offset: drops what is old, and

    # returns what a person should know of the rest


def write_values(values: Mapping[str, str | None]) -> str:
    """Return the values beside a file as text; "" where there are none."""
    return json.dumps(dict(sorted(values.items()))) if values else ""


def read_values(text: str) -> dict[str, str | None]:
    """Return the values that a table keeps beside a file."""
    return dict(json.loads(text)) if text else {}
