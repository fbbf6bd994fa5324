"""Runs on a Spark with the jars of a connector: the worlds first, then their warehouses; the last by the frame lane."""

from __future__ import annotations

import sys
from pathlib import Path

from expectations.check import Choice, check
from jobs.host.connectors import jar_setting
from jobs.runs.on_spark import evaluate
from jobs.runs.request import Options
from jobs.spark.session import spark_session
from tests.conftest import SMALL
from tests.worlds.readings import STREAM, open_world


def main() -> None:
    connector, *folders = sys.argv[1:]
    half = len(folders) // 2
    spark = spark_session("local[2]", {**SMALL, **jar_setting([connector] if connector else [])})
    lanes = ("auto", "auto", "frame")
    for folder, warehouse, lane in zip(folders[:half], folders[half:], lanes, strict=True):
        world = open_world(Path(folder))
        evaluate(spark, world.catalog, world.plan, warehouse, Options(lane, 1, buckets=2))
        choice = Choice(everything=True, docs=str(Path(folder) / "docs"))
        assert check(spark, world.catalog, STREAM, warehouse, choice).audit.passed
    spark.stop()


if __name__ == "__main__":
    main()
