"""Result files: the answers of one bucket and grouping, all queries together, one column per type of value."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from jobs.engine.keys import spelled
from jobs.engine.manifest import DataFile
from jobs.engine.program import ALL, Grouping
from jobs.engine.storage import Storage

if TYPE_CHECKING:
    from jobs.engine.answers import Answer  # it loads numba, which readers of results do not need

FOLDER = "results"
QUERY, START = "query", "window_start"
INSTANT = pa.timestamp("us", "UTC")
ROW_GROUP = 1 << 20
WRITE_BATCH = 1 << 16  # rows; Parquet's own thousand take longer
MERGE_AT = 16  # files of a level; their merger is one file of the next level


def fresh_name(folder: str, batch: int, bucket: int, suffix: str) -> str:
    """A name no other attempt of any task has."""
    return f"{folder}/{batch:012d}-{bucket:04d}-{uuid.uuid4().hex}.{suffix}"


def value_column(kind: pa.DataType) -> str:
    """The column that holds values of a type."""
    return f"value {kind}"


def result_table(grouping: Grouping, found: Sequence[tuple[pa.Table, Sequence[Answer]]]) -> pa.Table:
    """Answers by the keys of their trees, as one table; by query, so that a reader of one query skips the others."""
    answers = [answer for _, mine in found for answer in mine]
    labels = pa.array([answer.query.label for answer in answers])
    numbers = (np.full(len(answer.group), number, np.int32) for number, answer in enumerate(answers))
    columns = {QUERY: _chunked(pa.DictionaryArray.from_arrays(pa.array(each), labels) for each in numbers)}
    for name in grouping.keys:
        if name != ALL:
            spelt = (spelled(keys[name].combine_chunks(), answer.group) for keys, mine in found for answer in mine)
            columns[f"key {name}"] = _chunked(spelt)
    columns[START] = _chunked(pa.array(answer.start).view(INSTANT) for answer in answers)
    for kind in dict.fromkeys(answer.value.type for answer in answers):
        columns[value_column(kind)] = _chunked(
            answer.value if answer.value.type == kind else pa.nulls(len(answer.value), kind) for answer in answers
        )
    return _without_nulls(pa.table(columns).unify_dictionaries())


def _chunked(parts: Iterable[pa.Array]) -> pa.ChunkedArray:
    return pa.chunked_array(list(parts))


def _without_nulls(table: pa.Table) -> pa.Table:
    """The same table, whose columns say when they hold no null: Parquet then keeps none in mind, at half the price."""
    fields = [field.with_nullable(table[field.name].null_count > 0) for field in table.schema]
    return table.cast(pa.schema(fields))


def write_results(storage: Storage, batch: int, bucket: int, grouping: str, table: pa.Table) -> DataFile:
    """Write one file of answers."""
    name = fresh_name(FOLDER, batch, bucket, "parquet")
    encoded = [column for column in table.column_names if column == QUERY or column.startswith("key ")]
    pq.write_table(
        table,
        storage.path(name),
        filesystem=storage.filesystem,
        row_group_size=ROW_GROUP,
        write_batch_size=WRITE_BATCH,
        use_dictionary=encoded,
        column_encoding={START: "DELTA_BINARY_PACKED"},  # starts follow each other: smaller than compressed, and sooner
        compression="none",
        write_statistics=[QUERY, START],
        store_schema=False,
    )
    return DataFile(name, bucket, table.num_rows, batch, grouping)


def mergeable(files: Iterable[DataFile]) -> list[list[DataFile]]:
    """Groups of files of the same bucket, grouping and level that have become too many."""
    groups: dict[tuple[int, str, int], list[DataFile]] = {}
    for file in files:
        groups.setdefault((file.bucket, file.grouping, file.level), []).append(file)
    return [group for group in groups.values() if len(group) >= MERGE_AT]


def merge_files(storage: Storage, folder: str, batch: int, files: Sequence[DataFile]) -> DataFile:
    """One file with the rows of many, read and written a row group at a time."""
    first = files[0]
    name = fresh_name(folder, batch, first.bucket, "parquet")
    paths = [storage.path(file.name) for file in files]
    schemas = [pq.read_schema(path, filesystem=storage.filesystem) for path in paths]
    unified = pa.unify_schemas(schemas, promote_options="permissive")
    schema = pa.schema([field.with_nullable(True) for field in unified])  # some files lack some columns
    with pq.ParquetWriter(storage.path(name), schema, filesystem=storage.filesystem, compression="lz4") as writer:
        for path in paths:
            with pq.ParquetFile(path, filesystem=storage.filesystem) as source:
                for group in range(source.num_row_groups):
                    writer.write_table(_conformed(source.read_row_group(group), schema))
    return DataFile(name, first.bucket, sum(file.rows for file in files), batch, first.grouping, first.level + 1)


def _conformed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        table[field.name].cast(field.type) if field.name in table.column_names else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)
