"""Run as it stands by a plain Spark, a rewritten plan gives the rows of the user's own statements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.write import dump
from optimizer.planning.stream import plan_stream
from optimizer.rewrite import covers, rewrite
from tests.optimizer.rewrite.answers import assert_same_answers, run
from tests.optimizer.rewrite.catalogs import catalog_of, events, random_catalog


@pytest.mark.parametrize(
    ("seed", "strategy"),
    [
        pytest.param(6, "factor_windows", marks=pytest.mark.long),
        (12, "cascade"),
        pytest.param(8, "shared", marks=pytest.mark.long),
    ],
)
def test_random_catalogs(spark: SparkSession, tmp_path: Path, seed: int, strategy: str) -> None:
    catalog = random_catalog(tmp_path / "catalog", seed)
    script = assert_same_answers(spark, catalog, plan_stream(catalog, "odd", 10_000.0, strategy, technique="auto"))
    assert len(script.answers) == len(catalog.statements)
    assert "CACHE LAZY TABLE" in script.text
    assert len(script.as_written) < len(catalog.statements) / 2


def test_what_slices_cannot_answer_stays_as_written(spark: SparkSession, tmp_path: Path) -> None:
    """Decimals grow with every sum, holistic aggregates have no partials, rows are no time."""
    (tmp_path / "data").mkdir()
    # without a zone, Spark's windows have none either
    table = events(200, 9)
    times = table["ts"].cast(pa.timestamp("us"))
    pq.write_table(table.set_column(0, "ts", times), tmp_path / "data" / "part.parquet")
    clock = {"stream": "odd", "slide": "2 seconds", "group_by": "k"}
    queries: list[dict[str, Any]] = [
        {"id": "adds", "select": ["sum(m)", "avg(m)"], "range": "4 seconds", **clock},
        {"id": "counts", "select": ["max(m)", "approx_count_distinct(s)"], "range": "4 seconds", **clock},
        {"id": "picks", "select": ["max(m)", "first(m)", "count(DISTINCT s)"], "range": "4 seconds", **clock},
        {"id": "slides", "select": ["max(m) - min(m)", "var_samp(n)"], "range": "5 seconds", **clock},
        {"id": "longer", "select": ["avg(x)", "last(s)"], "range": "7 seconds", "where": "n > 3", **clock},
        {"id": "some", "select": ["sum(n) FILTER (WHERE x > 8)", "count_if(b)"], "range": "4 seconds", **clock},
        {"id": "few", "select": "sum(if(n > 9, x, NULL))", "where": "b", "range": "6 seconds", **clock},
        {"id": "rows", "stream": "odd", "select": "sum(n)", "range": "20 rows", "slide": "10 rows"},
    ]
    catalog = catalog_of(tmp_path, queries)
    script = assert_same_answers(spark, catalog, plan_stream(catalog, "odd", 1000.0, "shared", technique="auto"))
    assert script.as_written == ("adds", "counts", "picks", "rows")
    assert all("odd_" not in script.answers[name] for name in script.as_written)  # no view of a tree


def test_windows_of_other_windows(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Overlapping windows that cover others: with gaps, keys, predicates, residues and an offset."""
    monkeypatch.setattr(covers, "KEPT", 0)  # short windows, which Spark copies quickly, read others, too
    (tmp_path / "data").mkdir()
    pq.write_table(events(150, 11), tmp_path / "data" / "part.parquet")
    clock = {"stream": "odd", "slide": "1 second", "offset": "250 milliseconds", "group_by": "k"}
    queries: list[dict[str, Any]] = [
        {"id": "short", "select": ["max(n)", "avg(x)"], "range": "4500 milliseconds", **clock},
        {"id": "long", "select": ["max(n) - min(n)", "last(s)"], "range": "9500 milliseconds", **clock},
        {"id": "some", "select": "min(x)", "where": "n > 9", "range": "10500 milliseconds", **clock},
        {"id": "other", "select": "max(n) FILTER (WHERE x > 8)", "range": "11500 milliseconds", **clock},
        {"id": "seldom", "select": "bool_or(b)", "range": "15500 milliseconds", **clock | {"slide": "5 seconds"}},
    ]
    queries[-1]["offset"] = "3250 milliseconds"
    catalog = catalog_of(tmp_path, queries)
    script = assert_same_answers(spark, catalog, plan_stream(catalog, "odd", 1000.0, "shared", technique="auto"))
    reading = [name for name, sql in script.answers.items() if "_windows" in sql]
    assert reading == ["short", "long", "some", "other", "seldom"]


def test_a_stream_by_sql_comes_with_what_it_reads(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    pq.write_table(events(200, 10), tmp_path / "data" / "it's.parquet")
    pq.write_table(pa.table({"k": ["a", "b"], "weight": [2.0, 3.0]}), tmp_path / "weights.parquet")
    content = {
        "streams": {
            "odd": {"source": {"path": str(tmp_path / "data" / "it's.parquet")}, "time": "ts"},
            "weighed": {
                "source": {"sql": "SELECT odd.ts, x * weight AS x FROM odd JOIN weights ON odd.k = weights.k"},
                "time": "ts",
            },
        },
        "tables": {"weights": {"source": {"path": str(tmp_path / "weights.parquet")}}},
        "queries": [
            {"id": f"q{n}", "stream": "weighed", "select": "sum(x)", "range": f"{n} seconds", "slide": "2 seconds"}
            for n in (4, 6)
        ],
    }
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "all.yaml").write_text(dump(content))
    catalog = load_catalog(tmp_path / "catalog")
    script = assert_same_answers(spark, catalog, plan_stream(catalog, "weighed", 1000.0, "shared", technique="auto"))
    assert not script.as_written


def test_a_second_run_sees_new_events(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    queries = [
        {"id": f"q{n}", "stream": "odd", "select": "count(*)", "range": f"{n} minutes", "slide": "1 minute"}
        for n in (1, 2)
    ]
    catalog = catalog_of(tmp_path, queries)
    script = rewrite(catalog, plan_stream(catalog, "odd", 1000.0, "shared", technique="auto"), {})
    counts = []
    for number in range(2):
        pq.write_table(events(50, 11), tmp_path / "data" / f"part-{number}.parquet")
        counts.append(sum(row["count(1)"] for row in run(spark, script)["q1"].collect()))
    assert counts[1] == 2 * counts[0] > 0
