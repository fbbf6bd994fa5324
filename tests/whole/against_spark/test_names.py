"""Odd names on Spark: both lanes, unshared queries, audits, read_results and rewritten scripts give the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from expectations.check import Choice, check
from jobs.results import read_results
from jobs.runs.on_spark import evaluate
from jobs.runs.request import Options
from tests.jobs.engine.shard_plans import forced
from tests.optimizer.rewrite.answers import assert_same_answers
from tests.worlds.names import named_world
from tests.worlds.warehouse import STREAM, World

NAMES = [
    {"k": "__all__", "i": "a,b", "d": "__p0", "n": "__c0", "m": "x + y", "ts": "__v0", "s": "a`b", "b": "window"},
    {"k": "x + y", "n": "x", "m": "y", "i": "window.start", "d": "_row", "ts": "watermark", "s": "late", "b": "a.b"},
]


def evaluated(spark: SparkSession, world: World, lane: str) -> dict[str, list[str]]:
    """Every statement's rows, columns by place, evaluated file by file in a lane."""
    warehouse = str(world.folder / lane)
    evaluate(spark, world.catalog, forced(world.plan("shared")), warehouse, Options(lane, 1, buckets=2))
    frames = {id: read_results(spark, warehouse, world.catalog, id) for id in world.catalog.statements}
    return {id: sorted(str([*row.values()]) for row in frame.toArrow().to_pylist()) for id, frame in frames.items()}


@pytest.fixture(scope="module")
def expected(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return evaluated(spark, named_world(tmp_path_factory.mktemp("plain"), {}, unshared=True), "auto")


@pytest.mark.parametrize("number", range(len(NAMES)))
def test_any_names(spark: SparkSession, tmp_path: Path, expected: dict[str, Any], number: int) -> None:
    world = named_world(tmp_path, NAMES[number], unshared=True)
    for lane in ("auto", "frame"):
        assert evaluated(spark, world, lane) == expected, lane
        for choice in (Choice(everything=True), Choice(sample=40)):
            assert check(spark, world.catalog, STREAM, str(tmp_path / lane), choice).audit.passed, (lane, choice)
    assert_same_answers(spark, world.catalog, world.plan("shared"))
