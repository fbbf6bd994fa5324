"""kill -9 of the driver, of the JVM and of Python workers; `python -m benchmarks.faults` kills each at every step."""

from __future__ import annotations

import signal

import pytest
from pyspark.sql import SparkSession

from jobs.host.stops import TASK_STEPS
from tests.whole.faults.spark_runs import evaluate, run_apart
from tests.worlds.readings import Readings, assert_same, published


def test_both_engines_give_the_same_rows(spark_world: Readings) -> None:
    on_spark, alone = (published(spark_world, spark_world.warehouse(name)) for name in ("spark_reference", "reference"))
    for id, table in alone.items():
        assert on_spark[id].num_rows == table.num_rows
        assert on_spark[id].schema == table.schema


# a task that feeds and one that finishes a bucket die in the same run: all steps of both, in as few runs as that takes
WORKERS = {"1": ("read", "merged"), "2": ("feed", "finals"), "3": ("parcels", "results"), "4": ("state",)}


def test_killed_workers_are_replaced_and_a_killed_java_is_not(spark: SparkSession, spark_world: Readings) -> None:
    """One Spark sees a warehouse after the other; at last its Java dies, too, and that run is carried on."""
    assert sorted(step for steps in WORKERS.values() for step in steps) == sorted(TASK_STEPS)
    orders = {name: dict.fromkeys(steps, "") for name, steps in WORKERS.items()}
    done = run_apart(spark_world, {**orders, "jvm": {"results": "jvm"}})
    assert done.returncode == 2, done.stderr[-2000:]
    assert "Spark's Java process has died" in done.stderr
    for name in WORKERS:
        assert_same(spark_world, spark_world.warehouse(name), spark_world.warehouse("spark_reference"))
    evaluate(spark, spark_world, spark_world.warehouse("jvm"))
    assert_same(spark_world, spark_world.warehouse("jvm"), spark_world.warehouse("spark_reference"))


@pytest.mark.parametrize("step", ["state", "committed"])
def test_a_killed_run_is_carried_on(spark: SparkSession, spark_world: Readings, step: str) -> None:
    assert run_apart(spark_world, {step: {step: "driver"}}).returncode == -signal.SIGKILL
    evaluate(spark, spark_world, spark_world.warehouse(step))
    assert_same(spark_world, spark_world.warehouse(step), spark_world.warehouse("spark_reference"))
