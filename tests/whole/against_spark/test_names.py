"""Odd names on Spark: both lanes, unshared queries, audits, read_results and rewritten scripts give the same rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from expectations.check import Choice, check
from jobs.results import read_results, results_table
from jobs.runs.in_process import evaluate_local
from jobs.runs.on_spark import evaluate
from jobs.runs.request import Options
from tests.jobs.engine.shard_plans import forced
from tests.optimizer.rewrite.answers import assert_same_answers
from tests.worlds.names import QUERIES, named_world
from tests.worlds.warehouse import STREAM

IDS = [str(query["id"]) for query in QUERIES]
NAMES = {
    "k": "__all__",
    "i": "a,b",
    "d": "window.start",
    "n": "x",
    "m": "x + y",
    "ts": "watermark",
    "s": "a`b",
    "b": "window",
}


def test_any_names(spark: SparkSession, tmp_path: Path) -> None:
    plain, world = named_world(tmp_path / "plain", {}), named_world(tmp_path / "odd", NAMES, unshared=True)
    evaluate_local(plain.catalog, forced(plain.plan("shared")), str(tmp_path / "plain" / "local"), Options("auto", 2))
    expected = {id: _rows(results_table(str(tmp_path / "plain" / "local"), plain.catalog, id)) for id in IDS}
    for lane in ("auto", "frame"):
        warehouse = str(tmp_path / "odd" / lane)
        evaluate(spark, world.catalog, forced(world.plan("shared")), warehouse, Options(lane, 2, buckets=2))
        found = {id: _rows(read_results(spark, warehouse, world.catalog, id).toArrow()) for id in IDS}
        assert found == expected, lane
        choice = Choice(everything=True) if lane == "auto" else Choice(sample=20)
        assert check(spark, world.catalog, STREAM, warehouse, choice).audit.passed, lane  # the unshared query, too
    # a script reads the user's own tables, also where a column that some queries read is called `window`
    for number, names in enumerate((NAMES, {"n": "Window"})):
        script = named_world(tmp_path / f"script{number}", names, unshared=True)
        assert_same_answers(spark, script.catalog, script.plan("shared"))


def _rows(table: pa.Table) -> list[str]:
    """The rows of a table, columns by place."""
    return sorted(str([*row.values()]) for row in table.to_pylist())
