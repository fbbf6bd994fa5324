"""kill -9 of the driver, of the JVM and of Python workers; `python -m benchmarks.faults` kills each at every step."""

from __future__ import annotations

import signal

import pytest
from pyspark.sql import SparkSession

from jobs.host.kill_points import TASK_STEPS
from tests.whole.faults.spark_runs import evaluate, run_apart
from tests.worlds.readings import Readings, assert_same, published


def test_both_engines_give_the_same_rows(spark_world: Readings) -> None:
    on_spark, alone = (published(spark_world, spark_world.warehouse(name)) for name in ("spark_reference", "reference"))
    for id, table in alone.items():
        assert on_spark[id].num_rows == table.num_rows
        assert on_spark[id].schema == table.schema


def test_killed_workers_are_replaced(spark_world: Readings) -> None:
    """All steps of a task, one warehouse each, in one Spark."""
    done = run_apart(spark_world, {f"worker_{step}": {step: ""} for step in TASK_STEPS})
    assert done.returncode == 0, done.stderr[-2000:]
    for step in TASK_STEPS:
        assert_same(spark_world, spark_world.warehouse(f"worker_{step}"), spark_world.warehouse("spark_reference"))


@pytest.mark.parametrize(("victim", "step"), [("driver", "state"), ("driver", "committed"), ("jvm", "results")])
def test_a_killed_run_is_carried_on(spark: SparkSession, spark_world: Readings, victim: str, step: str) -> None:
    name = f"{victim}_{step}"
    done = run_apart(spark_world, {name: {step: victim}})
    if victim == "driver":
        assert done.returncode == -signal.SIGKILL
    else:
        assert done.returncode == 2
        assert "Spark's Java process has died" in done.stderr
    evaluate(spark, spark_world, spark_world.warehouse(name))
    assert_same(spark_world, spark_world.warehouse(name), spark_world.warehouse("spark_reference"))
