"""A stream with sinks: its world, and the tables of every format read back as plain rows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa
from deltalake import DeltaTable
from pyiceberg.catalog import load_catalog as load_iceberg

from jobs.results import results_table
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.planning.stream import plan_stream
from tests.worlds.streams import SECOND, odd_row
from tests.worlds.warehouse import STREAM, add_batch, query, write_stream

PLACES: dict[str, dict[str, str]] = {  # of each format, below the world's folder
    "parquet": {"path": "files"},
    "delta": {"path": "lake"},
    "iceberg": {"path": "ice"},
    "sql": {"path": "answers.db"},
}
BARE = f"SELECT count(x), avg(y) FROM {STREAM} GROUP BY k, window(ts, '10 seconds')"
QUERIES = [
    query("total", "sum(n)", 20 * SECOND, 5 * SECOND, group_by=["k"]),
    query("both", ["max(x) AS top", "count(*) AS n"], 20 * SECOND, 10 * SECOND, group_by=["i", "d"]),
    query("texts", "max(s)", 30 * SECOND, group_by=["b"]) | {"having": "value <> 'a'"},
    query("lately", "sum(m)", 1, group_by=["k"]) | {"range": "20 rows", "slide": "7 rows"},
    {"id": "bare", "sql": BARE},
]


def make_sinks_world(folder: Path, formats: tuple[str, ...], queries: list[Any] = QUERIES) -> Catalog:
    """A stream without events whose answers are wanted in some formats."""
    write_stream(folder, STREAM, queries, "2 seconds")
    return set_stream(folder, sinks={name: {"format": name} | _below(folder, PLACES[name]) for name in formats})


def set_stream(folder: Path, **fields: Any) -> Catalog:
    """The catalog with other fields of its stream."""
    file = folder / "catalog" / "catalog.yaml"
    document = json.loads(file.read_text())
    document["streams"][STREAM] |= fields
    file.write_text(json.dumps(document))
    return load_catalog(folder / "catalog")


def _below(folder: Path, place: dict[str, str]) -> dict[str, str]:
    return {field: str(folder / name) for field, name in place.items()}


def arrive(folder: Path, *numbers: int) -> None:
    """More files of events, each half a minute, some of them late."""
    for number in numbers:
        times = [(number * 30 + place * 7 % 31 - (40 if place == 11 else 0)) * SECOND for place in range(60)]
        add_batch(folder, number, [odd_row(time, number * 100 + place) for place, time in enumerate(times)])


def evaluate(folder: Path, catalog: Catalog) -> str:
    """Evaluate what has arrived, a batch per file; return the warehouse."""
    plan = plan_stream(catalog, STREAM, 10.0, "shared", "two_stacks_block")
    evaluate_local(catalog, plan, str(folder / "warehouse"), Options(files_per_batch=1, buckets=2))
    return str(folder / "warehouse")


def read_parquet(folder: Path, table: str) -> pa.Table:
    """The files that the manifests name."""
    manifests = [json.loads(file.read_text()) for file in sorted((folder / "files" / "_manifests" / STREAM).iterdir())]
    names = [manifest["tables"][table]["file"] for manifest in manifests if table in manifest["tables"]]
    assert {path.name for path in (folder / "files" / table).iterdir()} == {Path(name).name for name in names}
    return pa.concat_tables([pq.read_table(folder / "files" / name, partitioning=None) for name in names])


def read_delta(folder: Path, table: str) -> pa.Table:
    """The Delta table as it is now."""
    return DeltaTable(str(folder / "lake" / table)).to_pyarrow_table()


def read_iceberg(folder: Path, table: str) -> pa.Table:
    """The Iceberg table as it is now."""
    place = folder / "ice"
    catalog = load_iceberg("heddle", type="sql", uri=f"sqlite:///{place}/catalog.db", warehouse=place.as_uri())
    return catalog.load_table(("heddle", table)).scan().to_arrow()


def read_sql(folder: Path, table: str, url: str = "") -> list[dict[str, Any]]:
    """The rows of the database."""
    engine = sa.create_engine(url or f"sqlite:///{folder}/answers.db")
    with engine.connect() as connection:
        names = [sa.column(column["name"], column["type"]) for column in sa.inspect(engine).get_columns(table)]
        return [dict(row) for row in connection.execute(sa.select(*names).select_from(sa.table(table))).mappings()]


READERS: dict[str, Callable[[Path, str], Any]] = {
    "parquet": read_parquet,
    "delta": read_delta,
    "iceberg": read_iceberg,
    "sql": read_sql,
}


def assert_delivered(folder: Path, catalog: Catalog, format: str) -> None:
    """The table of every statement has the rows that are published, each once, with its columns."""
    for id in catalog.statements:
        expected = results_table(str(folder / "warehouse"), catalog, id)
        assert expected.num_rows
        rows = READERS[format](folder, id)
        if isinstance(rows, pa.Table):
            assert rows.schema.names == [*expected.schema.names, "batch"]
            rows = rows.to_pylist()
        assert plain_rows(rows) == plain_rows(expected.to_pylist()), (format, id)


def plain_rows(rows: list[dict[str, Any]]) -> list[str]:
    """Rows as every format tells them, sorted: without the batch, a window as two columns, NaN as null."""
    return sorted(repr([_plain(value) for name, value in row.items() if name != "batch"]) for row in map(_flat, rows))


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    window = row.get("window")
    if not isinstance(window, dict):
        return row
    items = [({"window_start": value["start"], "window_end": value["end"]} if name == "window" else {name: value})
             for name, value in row.items()]  # fmt: skip
    return {name: value for item in items for name, value in item.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    if isinstance(value, float) and math.isnan(value):
        return None
    if value == "NaN":  # of a key, in SQLite
        return None
    if isinstance(value, float):
        return value + 0.0  # SQLite has no -0.0
    return str(value) if isinstance(value, Decimal) else value
