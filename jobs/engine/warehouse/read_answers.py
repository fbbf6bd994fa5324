"""A statement's answers as an Arrow table with the columns of its SQL, without Spark."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.engine.program.program import key_column
from jobs.engine.program.spark_types import INSTANT
from jobs.engine.warehouse.published import Published
from jobs.engine.warehouse.result_files import QUERY, START, row_groups_of, value_column
from optimizer.catalog.model.query import Column


def read_answers(found: Published) -> pa.Table:
    """Every row that has been published, by window and keys."""
    parts = [part for file in found.files if (part := _rows(found, file.name)).num_rows]
    rows = pa.concat_tables(parts) if parts else _schema(found).empty_table()
    if len(found.queries) > 1:
        rows = _side_by_side(found, rows)
    order = [(START, "ascending"), *((key_column(key), "ascending") for key in found.keys)]
    rows = rows.sort_by(order)
    columns = [_column(found, rows, column) for column in found.statement.columns]
    return pa.table(columns, names=[column.name for column in found.statement.columns])


def _schema(found: Published) -> pa.Schema:
    """The columns in the making: keys, the window's start, one column per query."""
    keys = [(key_column(key), found.types[key]) for key in found.keys]
    return pa.schema([*keys, (START, INSTANT), *((id, found.types[id]) for id in found.queries)])


def _rows(found: Published, name: str) -> pa.Table:
    values = {id: value_column(found.types[id]) for id in found.queries}
    columns = [QUERY, START, *(key_column(key) for key in found.keys), *dict.fromkeys(values.values())]
    with pq.ParquetFile(found.storage.path(name), filesystem=found.storage.filesystem) as file:
        held = file.schema_arrow.names
        groups = row_groups_of(file, found.labels.values())
        table = file.read_row_groups(groups, [column for column in columns if column in held])
    table = table.filter(pc.is_in(table[QUERY].cast(pa.string()), pa.array(list(found.labels.values()))))
    out = {key_column(key): table[key_column(key)].cast(found.types[key]) for key in found.keys}
    out[START] = table[START].cast(INSTANT)
    for id, value in values.items():
        mine = pc.equal(table[QUERY].cast(pa.string()), found.labels[id])
        held_value = table[value] if value in held else pa.nulls(table.num_rows, found.types[id])
        out[id] = pc.if_else(mine, held_value.cast(found.types[id]), pa.scalar(None, found.types[id]))
    if len(values) > 1:
        out |= {f"has {id}": pc.equal(table[QUERY].cast(pa.string()), found.labels[id]) for id in values}
    return pa.table(out)


def _side_by_side(found: Published, rows: pa.Table) -> pa.Table:
    """One row per key and window, from one row per query; nulls are keys like any other."""
    keys = [*(key_column(key) for key in found.keys), START]
    # one row of a group holds the answer; Arrow takes the first of any type but decimals
    one = {id: "max" if pa.types.is_decimal(found.types[id]) else "first" for id in found.queries}
    asked: Sequence[tuple[str, str]] = list(one.items())
    there = [(f"has {id}", "any") for id in found.queries if f"has {id}" in rows.column_names]
    joined = rows.group_by(keys, use_threads=False).aggregate([*asked, *there])
    for name, _ in there:
        joined = joined.filter(joined[f"{name}_any"])
    return joined.select([*keys, *(f"{id}_{how}" for id, how in asked)]).rename_columns([*keys, *found.queries])


def _column(found: Published, rows: pa.Table, column: Column) -> pa.ChunkedArray:
    if column.source in found.queries:
        return rows[column.source]
    if column.source in found.keys:
        return rows[key_column(column.source)]
    start = rows[START].cast(found.instant)
    length = pa.scalar(found.window.range, pa.int64() if found.window.rows else pa.duration("us"))
    end = pc.add(start, length)
    if column.source == "window":
        parts = [part.combine_chunks() for part in (start, end)]
        return pa.chunked_array([pa.StructArray.from_arrays(parts, names=["start", "end"])])
    return start if column.source == "window.start" else end
