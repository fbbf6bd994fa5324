"""Queries that cannot be woven: plain Spark answers them in the same job, and they land in the same results."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from expectations.check import Choice, check
from heddle.main import app
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host.stops import KILL_AT
from jobs.results import late_table, read_results, results_table
from jobs.runs.on_spark import evaluate
from jobs.runs.report import RunReport
from jobs.runs.request import Options
from optimizer.catalog.model.catalog import Catalog
from optimizer.planning.stream import plan_stream
from tests.whole.against_spark.test_against_spark import some_batches, until
from tests.whole.faults.plan_runs import ROOT, write_plan
from tests.worlds.streams import SECOND, odd_row, ticks
from tests.worlds.warehouse import STREAM, add_batch

WINDOW = "window(ts, '10 seconds', '3 seconds', '1 second')"
SQL = {
    "middle": f"SELECT k, window, percentile(i, 0.5, 2) AS middle, sum(i) AS total FROM {STREAM} GROUP BY k, {WINDOW}",
    "kinds": f"SELECT count(DISTINCT s, k) AS kinds, window.start AS at FROM {STREAM} WHERE i > 0 GROUP BY {WINDOW}",
    "high": f"SELECT window, k, percentile(n, array(0.5, 1), 3) h FROM {STREAM} GROUP BY k, window(ts, '20 seconds')",
    "once": f"SELECT window, collect_set(i) s, collect_list(x) l, array_agg(k) a FROM {STREAM} GROUP BY {WINDOW}",
    "all": f"SELECT window, listagg(k, ',') AS l FROM {STREAM} GROUP BY window(ts, '15 seconds', '5 seconds')",
    "bins": f"SELECT window, histogram_numeric(i, 100) AS h, hll_sketch_agg(i) s FROM {STREAM} GROUP BY {WINDOW}",
}
ENTRIES = [{"id": id, "sql": sql} for id, sql in SQL.items()]
LATENESS = 2 * SECOND


def run(spark: SparkSession, folder: Path, entries: list[Any], lane: str = "auto") -> tuple[Catalog, RunReport]:
    """A batch per file."""
    catalog, plan = write_plan(folder, entries, LATENESS, "shared")
    return catalog, evaluate(spark, catalog, plan, str(folder / "warehouse"), Options(lane, 1, buckets=2))


def rows(frame: Any) -> list[str]:
    return sorted(map(str, frame.toArrow().to_pylist()))


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    """The rows with lists in order, since Spark leaves theirs open; of texts made of lists, their letters."""

    def ordered(name: str, value: Any) -> Any:
        parts = value.split(",") if name == "l" and isinstance(value, str) else value
        return sorted(parts, key=repr) if isinstance(parts, list) else parts

    return sorted(str({name: ordered(name, value) for name, value in row.items()}) for row in rows)


def ended(spark: SparkSession, sql: str, latest: int) -> Any:
    """The rows of the windows that ended, with the columns of the user's own SQL."""
    found = spark.sql(sql.replace("SELECT ", "SELECT unix_micros(window.end) AS the_end, ", 1))
    return found.where(f"the_end <= {latest}").drop("the_end")


@pytest.mark.parametrize("lane", ["file", "frame"])
def test_like_the_users_sql(spark: SparkSession, tmp_path: Path, lane: str) -> None:
    batches = some_batches(7)
    (tmp_path / "data").mkdir()
    for number, batch in enumerate(batches):
        add_batch(tmp_path, number, batch)
    catalog, report = run(spark, tmp_path, ENTRIES, lane)
    assert report.lane == lane
    assert set(report.unshared) == {
        "middle_middle",
        "kinds",
        "high",
        "once_s",
        "once_l",
        "once_a",
        "all",
        "bins_h",
        "bins_s",
    }
    assert all(report.unshared.values())
    assert "unshared" in report.step_seconds
    spark.read.parquet(str(tmp_path / "data")).createOrReplaceTempView(STREAM)
    for id, sql in SQL.items():
        expected = ended(spark, sql, until(batches))
        found = read_results(spark, str(tmp_path / "warehouse"), catalog, id)
        assert found.dtypes == expected.dtypes
        ours = found.toArrow().to_pylist()
        assert in_order(ours) == in_order(expected.toArrow().to_pylist()), id
        without_spark = results_table(str(tmp_path / "warehouse"), catalog, id)
        assert sorted(map(str, without_spark.to_pylist())) == sorted(map(str, ours))
    _, again = run(spark, tmp_path, ENTRIES, lane)
    assert again.results == 0


def test_late_events_joins_and_kills(spark: SparkSession, tmp_path: Path) -> None:
    """Only unshared queries at first; events that miss windows; a driver killed before its batch is committed."""
    (tmp_path / "data").mkdir()
    (tmp_path / "orders").mkdir()
    batches = [[odd_row((number * 20 + n) * SECOND, number * 50 + n) for n in range(20)] for number in range(4)]
    late = [odd_row(SECOND * n, 1000 + n) for n in range(25, 35)]
    batches[2] += late
    add_batch(tmp_path, 0, batches[0])
    add_batch(tmp_path, 1, batches[1])
    run(spark, tmp_path, ENTRIES[1:3])
    add_batch(tmp_path, 2, batches[2])
    catalog, _ = write_plan(tmp_path, ENTRIES[:4], LATENESS, "shared")
    (tmp_path / "orders" / "collected").write_text("driver")
    command = [sys.executable, "-m", "tests.whole.faults.plan_driver", str(tmp_path), str(tmp_path / "warehouse")]
    environment = {**os.environ, KILL_AT: str(tmp_path / "orders")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    add_batch(tmp_path, 3, batches[3])
    catalog, report = run(spark, tmp_path, ENTRIES[:4])
    # queries that join miss nothing, `high` has emitted none of their windows yet: `kinds` is left, and its predicate
    assert report.late == sum(1 for row in late if row["i"] and row["i"] > 0) > 0
    outcome = check(spark, catalog, STREAM, str(tmp_path / "warehouse"), Choice(everything=True))
    assert outcome.audit.passed, [each.examples for each in outcome.audit.checks]
    assert outcome.audit.statements == 4
    missed = late_table(str(tmp_path / "warehouse"), STREAM)
    assert {"k", "s", "i", "n"} <= set(missed.column_names)
    assert missed.num_rows == report.late
    storage = stream_storage(str(tmp_path / "warehouse"), STREAM)
    places = [
        (row["at"], row["kinds"]) for row in results_table(str(tmp_path / "warehouse"), catalog, "kinds").to_pylist()
    ]
    assert len(places) == len({ticks(at) for at, _ in places})
    assert newest(storage).batch == 3


def test_left_out_without_spark(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    add_batch(tmp_path, 0, [odd_row(n * SECOND, n) for n in range(60)])
    catalog, _ = write_plan(tmp_path, ENTRIES[:1], LATENESS, "shared")
    arguments = [
        "evaluate",
        tmp_path / "catalog",
        "--stream",
        STREAM,
        "--warehouse",
        tmp_path / "w",
        "--local",
        "--json",
    ]
    for _ in range(2):
        found = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert "left out, since only plain Spark can answer them: middle_middle" in found.stderr
        assert json.loads(found.stdout)["unshared"] == {}
    assert (
        "1 query on plain Spark: middle_middle"
        in plan_stream(catalog, STREAM, 1.0, "shared", technique="auto").explain()
    )
