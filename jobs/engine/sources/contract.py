"""What a source gives: files with their offset, and how a table's files hold its columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from jobs.engine.sources.files import File
from optimizer.catalog.model.query import Stream

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


def _field_ids(schema: pa.Schema) -> list[tuple[int, str]]:
    fields = [(field, (field.metadata or {}).get(b"PARQUET:field_id")) for field in schema]
    return [(int(id), field.name) for field, id in fields if id is not None]


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
