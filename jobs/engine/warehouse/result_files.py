"""Result files: the answers of one bucket and grouping, all queries together, one column per type of value.

A row of a query is told apart by its keys and its window. Its first answer has no revision, each later one the batch
that corrected it; of each row, readers want the newest.

The late table beside them has every event that some window missed, with the number of windows that did.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.engine.events.arrow import decode_dictionary
from jobs.engine.program.program import key_column, set_apart
from jobs.engine.program.spark_types import INSTANT, can_widen, parse_type
from jobs.engine.warehouse.manifest import DataFile
from jobs.host.storage import Storage
from jobs.kernels.arrays import Bools, Ints

FOLDER = "results"
QUERY, START = "query", "window_start"
VALUE = "value "  # begins the name of a column of answers, before their type
REVISION = "revision"  # of files with revisions: the batch that corrected a row; null where none did
ROW_GROUP = 1 << 18
MOST_LABELS = 127  # of a row group: as many as a byte tells apart
LABELS_OF_GROUPS = b"heddle labels"  # metadata: whose answers each row group has; statistics would take much longer
MERGED_GROUP = 1 << 16
MERGED_AT_ONCE = 1 << 20  # rows
WRITE_BATCH = 1 << 16  # rows; Parquet's own thousand take longer
MERGE_AT = 16  # files of a tier; their merger is one file of the next tier
FIRST = -1  # stands for the answer that no batch has corrected
LATE_FOLDER = "late"
MISSED, BATCH, WATERMARK = "windows_missed", "batch", "watermark"
CORRECTED, CORRECTED_AFTER = "windows_corrected", "corrected_after"  # of streams that correct emitted windows


def fresh_name(folder: str, batch: int, bucket: int, suffix: str) -> str:
    """Return a name that no other attempt of any task has."""
    return f"{folder}/{batch:012d}-{bucket:04d}-{uuid.uuid4().hex}.{suffix}"


def value_column(kind: pa.DataType) -> str:
    """Name the column that holds values of a type."""
    return f"{VALUE}{kind}"


def value_types(kind: pa.DataType, names: Iterable[str]) -> list[pa.DataType]:
    """Return the types of those columns of a file that may hold answers of a type: those that were made before a
    table's column was widened are in the column of a narrower type.

    >>> [str(kind) for kind in value_types(pa.float64(), ["query", "value float", "value double", "value string"])]
    ['float', 'double']
    """
    kinds = [parse_type(name.removeprefix(VALUE)) for name in names if name.startswith(VALUE)]
    return [each for each in kinds if each == kind or can_widen(each, kind)]


def read_values(table: pa.Table, kind: pa.DataType) -> pa.ChunkedArray | pa.Array:
    """Return the answers of one query's rows in their type; a file lacks the columns of types that no query had."""
    columns = [table[value_column(each)].cast(kind) for each in value_types(kind, table.column_names)]
    if not columns:
        return pa.nulls(table.num_rows, kind)
    return pc.coalesce(*columns) if columns[1:] else columns[0]


def write_results(storage: Storage, batch: int, bucket: int, grouping: str, tables: Sequence[pa.Table]) -> DataFile:
    """Write one file of answers, a row group per table."""
    name = fresh_name(FOLDER, batch, bucket, "parquet")
    schema = tables[0].schema
    encoded = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    with pq.ParquetWriter(
        storage.path(name),
        schema,
        filesystem=storage.filesystem,
        write_batch_size=WRITE_BATCH,
        use_dictionary=encoded,
        column_encoding={START: "DELTA_BINARY_PACKED"},  # starts follow each other: smaller than compressed, and sooner
        compression="none",
        write_statistics=[START],
        store_schema=False,
    ) as writer:
        _write_labels(writer, [labels for table in tables for labels in _write(writer, table)])
    rows, revised = sum(table.num_rows for table in tables), REVISION in schema.names
    return DataFile(name, bucket, rows, batch, grouping, revised=revised)


def _write(writer: pq.ParquetWriter, table: pa.Table) -> list[list[str]]:
    """Write a table and return the labels of every row group it takes."""
    writer.write_table(table, row_group_size=ROW_GROUP)
    labels = table[QUERY].chunk(0).dictionary.to_pylist()
    return [labels] * -(-table.num_rows // ROW_GROUP)


def _write_labels(writer: pq.ParquetWriter, labels: Sequence[Sequence[str]]) -> None:
    writer.add_key_value_metadata({LABELS_OF_GROUPS.decode(): json.dumps(labels)})


def _labels_by_row_group(file: pq.ParquetFile) -> list[list[str]]:
    """Return the labels of every row group, or [] where the file does not tell."""
    labels: list[list[str]] = json.loads((file.metadata.metadata or {}).get(LABELS_OF_GROUPS, b"[]"))
    return labels


def row_groups_of(file: pq.ParquetFile, labels: Collection[str]) -> list[int]:
    """Return the numbers of the row groups that may hold answers of some labels."""
    groups = _labels_by_row_group(file) or [list(labels)] * file.num_row_groups
    return [number for number, group in enumerate(groups) if not set(labels).isdisjoint(group)]


def mergeable(files: Iterable[DataFile]) -> list[list[DataFile]]:
    """Return the groups of files of the same bucket, grouping and tier that have become too many."""
    groups: dict[tuple[int, str, int], list[DataFile]] = {}
    for file in files:
        groups.setdefault((file.bucket, file.grouping, file.tier), []).append(file)
    return [group for group in groups.values() if len(group) >= MERGE_AT]


def merge_files(storage: Storage, folder: str, batch: int, files: Sequence[DataFile]) -> DataFile:
    """Write one file with the rows of many, some row groups at a time."""
    first = files[0]
    name = fresh_name(folder, batch, first.bucket, "parquet")
    paths = [storage.path(file.name) for file in files]
    schemas = [pq.read_schema(path, filesystem=storage.filesystem) for path in paths]
    unified = pa.unify_schemas(schemas, promote_options="permissive")
    schema = pa.schema([field.with_nullable(True) for field in unified])  # some files lack some columns
    if QUERY in schema.names:
        schema = pa.schema(map(_with_dictionary, schema))
    with _open_merged(storage, name, schema) as writer:
        tables = _large_tables(storage, dict(zip(paths, schemas, strict=True)), schema)
        _write_labels(writer, [labels for table in tables for labels in _write_merged(writer, table)])
    rows, revised = sum(file.rows for file in files), any(file.revised for file in files)
    return DataFile(name, first.bucket, rows, batch, first.grouping, first.tier + 1, revised=revised)


def _with_dictionary(field: pa.Field) -> pa.Field:
    """Return the field of a column as it is merged: labels and texts are moved as numbers, a fifth of the time."""
    texts = pa.types.is_string(field.type) or pa.types.is_binary(field.type)
    return field.with_type(pa.dictionary(pa.int32(), field.type)) if texts else field


def _repeats(field: pa.Field) -> bool:
    """Say whether a column has few values in many rows: a label, a key or a text."""
    return bool(pa.types.is_dictionary(field.type)) or field.name.startswith(key_column(""))


def _open_merged(storage: Storage, name: str, schema: pa.Schema) -> pq.ParquetWriter:
    """Open a file of merged rows; late events have no labels, and are written as any Parquet file is."""
    path, filesystem = storage.path(name), storage.filesystem
    if QUERY not in schema.names:
        return pq.ParquetWriter(path, schema, filesystem=filesystem, compression="lz4")
    return pq.ParquetWriter(
        path,
        schema,
        filesystem=filesystem,
        compression="lz4",
        write_batch_size=WRITE_BATCH,
        use_dictionary=[field.name for field in schema if _repeats(field)],
        column_encoding={START: "DELTA_BINARY_PACKED"},
        write_statistics=[START],
        store_schema=False,
    )


def _large_tables(storage: Storage, files: Mapping[str, pa.Schema], schema: pa.Schema) -> Iterator[pa.Table]:
    """Read the rows of some files, each with the columns that it has, many at a time."""
    waiting: list[pa.Table] = []
    for path, columns in files.items():
        encoded = [name for name in columns.names if pa.types.is_dictionary(schema.field(name).type)]
        with pq.ParquetFile(path, filesystem=storage.filesystem, read_dictionary=encoded) as source:
            for group in range(source.num_row_groups):
                waiting.append(_with_schema(source.read_row_group(group), schema))
                if sum(table.num_rows for table in waiting) >= MERGED_AT_ONCE:
                    yield pa.concat_tables(waiting).unify_dictionaries()
                    waiting = []
    if waiting:
        yield pa.concat_tables(waiting).unify_dictionaries()


def _write_merged(writer: pq.ParquetWriter, table: pa.Table) -> list[list[str]]:
    """Write a table by query, in row groups that a reader of one of them can pass over; late events as they are."""
    if QUERY not in table.column_names:
        writer.write_table(table)
        return []
    ordered = table.take(pc.array_sort_indices(table[QUERY].combine_chunks().indices))
    writer.write_table(ordered, row_group_size=MERGED_GROUP)
    parts = (ordered[QUERY].slice(start, MERGED_GROUP) for start in range(0, table.num_rows, MERGED_GROUP))
    return [pc.unique(part).to_pylist() for part in parts]


def _with_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        table[field.name].cast(field.type) if field.name in table.column_names else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def revise_tables(
    storage: Storage, touched: Sequence[DataFile], batch: int, tables: Sequence[pa.Table]
) -> list[pa.Table]:
    """Return the answers in the rows that some files have, as revisions of a batch; tables without any are left out."""
    columns = [name for name in tables[0].column_names if name in (QUERY, START) or name.startswith("key ")]
    paths = [storage.path(file.name) for file in touched]
    own = [pq.read_table(path, columns=columns, filesystem=storage.filesystem, partitioning=None) for path in paths]
    revised = []
    for table in tables:
        corrected = table.filter(pa.array(are_among(table.select(columns), own)))
        if corrected.num_rows:
            revisions = pa.repeat(pa.scalar(batch, pa.int64()), corrected.num_rows)
            revised.append(corrected.append_column(REVISION, revisions).combine_chunks())
    return revised


def are_among(table: pa.Table, others: Sequence[pa.Table]) -> Bools:
    """Return which rows of a table are among those of others, nulls being values like any other.

    >>> are_among(pa.table({"k": ["a", None, "b"]}), [pa.table({"k": [None, "b"]})]).tolist()
    [False, True, True]
    """
    plain = _decode(table)
    parts = [_decode(other).cast(plain.schema) for other in others]
    groups = number_groups(pa.concat_tables([plain, *parts]))
    return np.isin(groups[: table.num_rows], groups[table.num_rows :])


def _decode(table: pa.Table) -> pa.Table:
    columns = {name: decode_dictionary(table[name]) for name in table.column_names}
    return pa.table(columns)


def number_groups(table: pa.Table) -> Ints:
    """Return a number for every row: the same for rows that are equal, nulls being values like any other.

    >>> number_groups(pa.table({"k": ["a", None, "a", None], "n": [1, 2, 1, 3]})).tolist()
    [0, 1, 0, 2]
    """
    keys = [str(number) for number in range(table.num_columns)]  # Arrow takes a name like `.a` for a path
    places = table.rename_columns(keys).append_column("row", pa.array(np.arange(table.num_rows)))
    groups = places.group_by(keys, use_threads=False).aggregate([("row", "list")])["row_list"].combine_chunks()
    numbers = np.empty(table.num_rows, np.int64)
    numbers[np.asarray(groups.flatten())] = np.repeat(np.arange(len(groups)), np.asarray(pc.list_value_length(groups)))
    return numbers


def number_revisions(table: pa.Table, keys: Sequence[str]) -> tuple[Ints, Bools]:
    """Return the number of the revision that each row is, from 0 on, and whether it is the newest.

    >>> table = pa.table({"k": ["a", "a", "b", "a"], REVISION: pa.array([None, 7, None, 5], pa.int64())})
    >>> [column.tolist() for column in number_revisions(table, ["k"])]
    [[0, 2, 0, 1], [False, True, True, False]]
    """
    revisions = np.asarray(table[REVISION].fill_null(FIRST))
    groups = number_groups(table.select(keys)) if keys else np.zeros(table.num_rows, np.int64)
    pairs, place = np.unique(np.stack([groups, revisions]), axis=1, return_inverse=True)
    first, last = (np.searchsorted(pairs[0], groups, side) for side in ("left", "right"))
    numbers, newest = place - first, place == last - 1
    return numbers, newest


def keep_newest(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return the newest revision of every row; a table without the column has no other."""
    if REVISION not in table.column_names or not table.num_rows:
        return table
    return table.filter(pa.array(number_revisions(table, keys)[1]))


def late_column(name: str) -> str:
    """Name the column of the late table that holds a column of the events: those of its own come first.

    >>> late_column("device"), late_column("batch")
    ('device', '`batch`')
    """
    return set_apart(name, (MISSED, BATCH, WATERMARK, CORRECTED, CORRECTED_AFTER))


class Correction(NamedTuple):
    """How many of the windows that missed each late event are corrected: those that end after a time."""

    windows: npt.NDArray[np.int64]
    after: int


def write_late(
    storage: Storage,
    batch: int,
    emitted: int,
    rows: pa.Table,
    missed: npt.NDArray[np.int64],
    correction: Correction | None = None,
) -> DataFile:
    """Write the late events of one task; the windows that missed them end at or before the watermark."""
    columns: dict[str, Any] = {late_column(name): decode_dictionary(rows[name]) for name in rows.column_names}
    watermarks = pa.array(np.full(len(missed), emitted)).view(INSTANT)
    columns |= {MISSED: missed, BATCH: np.full(len(missed), batch), WATERMARK: watermarks}
    if correction:
        after = pa.array(np.full(len(missed), correction.after)).view(INSTANT)
        columns |= {CORRECTED: correction.windows, CORRECTED_AFTER: after}
    table = pa.table(columns)
    name = fresh_name(LATE_FOLDER, batch, 0, "parquet")
    pq.write_table(table, storage.path(name), filesystem=storage.filesystem)
    return DataFile(name, 0, table.num_rows, batch)


def read_late_files(storage: Storage, files: Sequence[DataFile]) -> pa.Table:
    """Read every late event; a column that some batches did not read is null in their events."""
    paths = [storage.path(file.name) for file in files]
    tables = [pq.read_table(path, filesystem=storage.filesystem) for path in paths]
    return pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})
