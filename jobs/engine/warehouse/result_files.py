"""Result files: the answers of one bucket and grouping, all queries together, one column per type of value."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.engine.program.program import key_column
from jobs.engine.warehouse.manifest import DataFile
from jobs.host.storage import Storage

FOLDER = "results"
QUERY, START = "query", "window_start"
REVISION = "revision"  # of files with revisions: the batch that corrected a row; null where none did
ROW_GROUP = 1 << 18
MOST_LABELS = 127  # of a row group: as many as a byte tells apart
LABELS_OF_GROUPS = b"heddle labels"  # metadata: whose answers each row group has; statistics would take much longer
MERGED_GROUP = 1 << 16
MERGED_AT_ONCE = 1 << 20  # rows
WRITE_BATCH = 1 << 16  # rows; Parquet's own thousand take longer
MERGE_AT = 16  # files of a tier; their merger is one file of the next tier


def fresh_name(folder: str, batch: int, bucket: int, suffix: str) -> str:
    """Return a name that no other attempt of any task has."""
    return f"{folder}/{batch:012d}-{bucket:04d}-{uuid.uuid4().hex}.{suffix}"


def value_column(kind: pa.DataType) -> str:
    """Name the column that holds values of a type."""
    return f"value {kind}"


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
