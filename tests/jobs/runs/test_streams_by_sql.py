"""Streams made by SQL: the papers' trades workloads, joined with static tables, against the user's own SQL on Spark."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from pyspark.sql import SparkSession

from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.generate import Options as Generated
from jobs.generate import generate
from jobs.measure.stream import recent_by
from jobs.results import read_results
from jobs.runs.in_process import evaluate_local
from jobs.runs.on_spark import evaluate
from jobs.runs.request import Options
from jobs.spark.stream_frames import driver_of
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError
from optimizer.planning.stream import plan_stream
from optimizer.workloads.generators import trades_b, trades_c
from optimizer.workloads.workload import write_catalog

SECOND = 1_000_000


def market(folder: Path, workload: Any) -> Catalog:
    """Trades of two minutes, in three files, and a workload over them."""
    if not (folder / "trades").exists():
        generate("trades", Generated(3000, keys=5, rate=25, file_events=1000, out_of_order=0.1), folder / "trades")
    write_catalog(workload, folder / "catalog", str(folder / "trades"), tick=SECOND // 200)
    return load_catalog(folder / "catalog")


def by_hand(spark: SparkSession, catalog: Catalog, stream: str) -> None:
    """The stream as a view, as a user makes it."""
    for name, source in {**catalog.tables, **catalog.streams}.items():
        if not getattr(source, "sql", ""):
            spark.read.parquet(source.path).createOrReplaceTempView(name)
    spark.sql(catalog.streams[stream].sql).createOrReplaceTempView(stream)


def rows_of(frame: Any, until: int) -> dict[Any, float]:
    """Answers by key and window, of the windows that have ended."""
    found = {}
    for row in frame.where(f"unix_micros(window.end) <= {until}").collect():
        *keys, window, value = row
        assert (*keys, window) not in found
        found[(*keys, window)] = value
    return found


def assert_like_spark(spark: SparkSession, catalog: Catalog, stream: str, warehouse: str) -> int:
    """All rows of all statements; how many there are."""
    by_hand(spark, catalog, stream)
    until, total = newest(stream_storage(warehouse, stream)).watermark, 0
    for id in catalog.statements:
        ours = rows_of(read_results(spark, warehouse, catalog, id), until)
        theirs = rows_of(spark.sql(catalog.statements[id].sql), until)
        assert ours.keys() == theirs.keys(), id
        for place, value in ours.items():
            assert value == theirs[place] or math.isclose(value, theirs[place], rel_tol=1e-9), (id, place)
        total += len(ours)
    return total


@pytest.mark.parametrize("workload", [trades_b(4), trades_c(4)], ids=["b", "c"])
def test_trades_workloads(spark: SparkSession, tmp_path: Path, workload: Any) -> None:
    catalog = market(tmp_path, workload)
    plan = plan_stream(catalog, "market", 25.0, "weave_share", "two_stacks_block")
    warehouse = str(tmp_path / "warehouse")
    report = evaluate(spark, catalog, plan, warehouse, Options(files_per_batch=1, buckets=2))
    assert (report.lane, report.batches) == ("frame", 3)
    assert assert_like_spark(spark, catalog, "market", warehouse) > 100


TABLES = {"limits": {"source": {"path": "limits.parquet"}}}
STREAMS = {
    "raw": {"source": {"path": "raw"}, "time": "ts", "lateness": "1 second"},
    "priced": {"source": {"sql": "SELECT ts, k, x * n AS worth, x FROM raw WHERE n > 0"}, "time": "ts"},
    "watched": {
        "source": {
            "sql": "SELECT p.ts AS at, p.k, p.worth, l.most, p.worth > l.most AS over "
            "FROM priced AS p LEFT JOIN limits AS l ON p.k = l.k"
        },
        "time": "at",
        "lateness": "2 seconds",
    },
}
QUERIES = [
    {
        "id": "overs",
        "stream": "watched",
        "select": "count(*)",
        "where": "over",
        "group_by": ["k"],
        "range": "6 seconds",
    },
    {"id": "worth", "stream": "watched", "select": "sum(worth)", "group_by": ["k"], "range": "5s", "slide": "2s"},
    {"id": "most", "stream": "watched", "select": "max(most)", "range": "4 seconds"},
]


def write_world(folder: Path, streams: dict[str, Any], queries: list[Any]) -> Catalog:
    (folder / "catalog").mkdir(exist_ok=True)
    document = {"streams": streams, "tables": TABLES, "queries": queries}
    (folder / "catalog" / "c.yaml").write_text(yaml.safe_dump(document))
    return load_catalog(folder / "catalog")


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """A stream by SQL over a stream by SQL; a key that the table has twice, one that it lacks."""
    (tmp_path / "raw").mkdir()
    for number in range(2):
        times = pa.array([(number * 30 + n) * SECOND // 2 for n in range(30)], pa.timestamp("us", "UTC"))
        keys = pa.array([["a", "b", "c", None][n % 4] for n in range(30)])
        values = [float(n) if n % 7 else None for n in range(30)]
        table = pa.table({"ts": times, "k": keys, "x": values, "n": [n % 5 for n in range(30)]})
        pq.write_table(table, tmp_path / "raw" / f"part-{number}.parquet")
    pq.write_table(pa.table({"k": ["a", "b", "b"], "most": [20.0, 5.0, 50.0]}), tmp_path / "limits.parquet")
    return write_world(tmp_path, STREAMS, QUERIES)


def test_sql_over_sql_with_a_left_join(spark: SparkSession, tmp_path: Path, catalog: Catalog) -> None:
    warehouse = str(tmp_path / "warehouse")
    plan = plan_stream(catalog, "watched", 2.0, "shared", "two_stacks_block")
    evaluate(spark, catalog, plan, warehouse, Options(files_per_batch=1))
    spark.read.parquet(catalog.streams["raw"].path).createOrReplaceTempView("raw")
    spark.sql(catalog.streams["priced"].sql).createOrReplaceTempView("priced")
    flat = Catalog({"watched": catalog.streams["watched"]}, catalog.queries, catalog.columns, catalog.tables)
    assert assert_like_spark(spark, flat, "watched", warehouse) > 10
    assert not [view.name for view in spark.catalog.listTables() if view.name.startswith("heddle_")]


@pytest.mark.parametrize(
    ("sql", "line"),
    [
        ("SELECT a.ts FROM raw AS a JOIN raw AS b ON a.k = b.k", "its SQL reads raw and raw; exactly one stream"),
        ("SELECT r.ts FROM raw AS r JOIN priced AS p ON r.k = p.k", "its SQL reads raw and priced"),
        ("SELECT k AS ts FROM limits", "its SQL reads no stream"),
        ("SELECT r.ts FROM limits LEFT JOIN raw AS r ON r.k = limits.k", "keeps rows of a table that no event of raw"),
        ("SELECT r.ts FROM raw AS r FULL JOIN limits AS l ON r.k = l.k", "keeps rows of limits that no event of raw"),
    ],
)
def test_refused(tmp_path: Path, catalog: Catalog, sql: str, line: str) -> None:
    streams = {**STREAMS, "watched": {"source": {"sql": sql}, "time": "ts"}}
    with pytest.raises(HeddleError, match=line) as caught:
        driver_of(write_world(tmp_path, streams, QUERIES[:1]), "watched")
    assert "\n" not in str(caught.value)


def test_refused_without_spark(tmp_path: Path, catalog: Catalog) -> None:
    plan = plan_stream(catalog, "watched", 2.0, "shared", "two_stacks_block")
    with pytest.raises(HeddleError, match="stream watched is made by SQL, which only Spark evaluates"):
        evaluate_local(catalog, plan, str(tmp_path / "warehouse"))


def test_predicates_of_a_stream_by_sql_are_measured(spark: SparkSession, tmp_path: Path) -> None:
    drawn = trades_b(70)
    catalog = market(
        tmp_path, replace(drawn, shapes=tuple(replace(shape, group_by="symbol") for shape in drawn.shapes))
    )
    recent = recent_by(lambda: spark, catalog, "market")
    plan = plan_stream(catalog, "market", 25.0, "shared", recent=recent, technique="auto")
    (tree,) = plan.trees
    assert tree.sharded
    assert tree.shards is not None
    assert tree.shards.predicates == 70
    assert plan.traffic.keys_of(("symbol",), rows=False) == pytest.approx(5.0, abs=0.5)
