"""`read_results` has the very columns, names and types of the user's SQL, and its rows."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from jobs.data_source import HeddleSource
from jobs.results import read_results, results_table
from jobs.runs.in_process import evaluate_local
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.planning.stream import plan_stream

START = datetime(2024, 2, 29, 12)
WINDOW = "window(ts, '10 seconds', '5 seconds')"
STATEMENTS = {
    "single": f"SELECT k, window, max(f) AS top FROM s GROUP BY k, {WINDOW}",
    "texts": f"SELECT window.end AS until, k AS name, last(k) AS k, window.start FROM s GROUP BY k, {WINDOW}",
    "many": "SELECT sum(i), day, avg(i) AS mean, window, max(day) AS newest, min(ts) AS first_at, bool_or(b), count(*) "
    f"FROM s WHERE f > 1 GROUP BY day, b, i, {WINDOW}",
    "keyless": f"SELECT window, sum(f), min(t) FROM s GROUP BY {WINDOW}",
}


def rows() -> dict[str, list[Any]]:
    """A minute of events with nulls in every column but the time."""
    numbers = range(120)
    return {
        "ts": [START + timedelta(milliseconds=500 * n) for n in numbers],
        "k": [None if n % 5 == 0 else f"k{n % 3}" for n in numbers],
        "i": [None if n % 7 == 0 else n % 4 for n in numbers],
        "t": [n % 100 for n in numbers],
        "f": [None if n % 11 == 0 else n / 8 for n in numbers],
        "day": [date(2024, 1, 1 + n % 2) if n % 13 else None for n in numbers],
        "b": [n % 3 == 0 if n % 4 else None for n in numbers],
    }


@pytest.fixture(scope="module", params=["UTC", None])
def evaluated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Catalog]:
    """A warehouse of all statements, over times with and without a zone."""
    folder = tmp_path_factory.mktemp("results")
    (folder / "data").mkdir()
    (folder / "catalog").mkdir()
    types = [
        pa.timestamp("us", request.param),
        pa.string(),
        pa.int32(),
        pa.int8(),
        pa.float64(),
        pa.date32(),
        pa.bool_(),
    ]
    columns = rows()
    table = pa.table(list(columns.values()), names=list(columns)).cast(pa.schema(zip(columns, types, strict=True)))
    pq.write_table(table, folder / "data" / "part.parquet")
    source = {"source": {"format": "parquet", "path": str(folder / "data")}, "time": "ts", "lateness": "0 seconds"}
    queries = [{"id": id, "sql": sql} for id, sql in STATEMENTS.items()]
    (folder / "catalog" / "c.yaml").write_text(yaml.safe_dump({"streams": {"s": source}, "queries": queries}))
    catalog = load_catalog(folder / "catalog")
    evaluate_local(catalog, plan_stream(catalog, "s", 2.0, "shared", "two_stacks_block"), str(folder / "warehouse"))
    return folder, catalog


def plain(schema: StructType) -> list[tuple[str, str]]:
    """Names and types; whether Spark thinks that a column may be null is no part of it."""
    return [(field.name, field.dataType.simpleString()) for field in schema]


@pytest.mark.parametrize("id", STATEMENTS)
def test_like_the_users_sql(spark: SparkSession, evaluated: tuple[Path, Catalog], id: str) -> None:
    folder, catalog = evaluated
    spark.read.parquet(str(folder / "data")).createOrReplaceTempView("s")
    expected = spark.sql(catalog.statements[id].sql)
    found = read_results(spark, str(folder / "warehouse"), catalog, id)
    assert plain(found.schema) == plain(expected.schema)

    without_spark = results_table(str(folder / "warehouse"), catalog, id)
    arrow = found.toArrow()
    assert without_spark.schema.types == arrow.schema.types
    listed = sorted(map(str, arrow.to_pylist()))
    assert listed == sorted(map(str, without_spark.to_pylist()))
    ended = expected.where(f"window.end <= timestamp'{START + timedelta(seconds=59)}'") if id == "single" else None
    if ended is not None:
        assert listed == sorted(map(str, ended.toArrow().to_pylist()))
    assert listed

    spark.dataSource.register(HeddleSource)
    options = {"catalog": str(folder / "catalog"), "warehouse": str(folder / "warehouse"), "query": id}
    source = spark.read.format("heddle").options(**options).load()
    assert plain(source.schema) == plain(expected.schema)
    assert sorted(map(str, source.toArrow().to_pylist())) == listed

    both = read_results(spark, str(folder / "warehouse"), catalog, id, open=True)
    assert both.where("NOT open").count() == len(listed)
    assert both.count() == expected.count()


def test_no_window_has_ended(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "catalog").mkdir()
    pq.write_table(
        pa.table({"ts": pa.array([0], pa.timestamp("us", "UTC")), "x": [1.0]}), tmp_path / "data" / "a.parquet"
    )
    source = {"source": {"format": "parquet", "path": str(tmp_path / "data")}, "time": "ts", "lateness": "0 seconds"}
    query = {"id": "q", "stream": "s", "select": "max(x)", "range": "1 minute"}
    (tmp_path / "catalog" / "c.yaml").write_text(yaml.safe_dump({"streams": {"s": source}, "queries": [query]}))
    catalog = load_catalog(tmp_path / "catalog")
    evaluate_local(catalog, plan_stream(catalog, "s", 1.0, "shared", "two_stacks_block"), str(tmp_path / "warehouse"))
    found = read_results(spark, str(tmp_path / "warehouse"), tmp_path / "catalog", "q")
    assert plain(found.schema) == [("window", "struct<start:timestamp,end:timestamp>"), ("max(x)", "double")]
    assert found.count() == 0
