"""Runs on Spark in processes that may die."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from jobs.host.stops import KILL_AT
from jobs.runs.on_spark import evaluate as evaluate_on_spark
from jobs.runs.request import Options
from tests.worlds.readings import Readings

ROOT = Path(__file__).parents[3]


def evaluate(spark: SparkSession, world: Readings, warehouse: str) -> None:
    """A batch per file, in this process."""
    evaluate_on_spark(spark, world.catalog, world.plan, warehouse, Options("file", files_per_batch=1))


def run_apart(world: Readings, orders: dict[str, dict[str, str]]) -> subprocess.CompletedProcess[str]:
    """Evaluate copies of the base, named by the keys; each with its orders: at which step which process is killed."""
    force = world.folder / "in force"
    force.mkdir(exist_ok=True)
    for name, kills in orders.items():
        folder = world.folder / f"orders of {name}"
        folder.mkdir()
        for step, victim in kills.items():
            (folder / step).write_text(victim)
    command = [sys.executable, "-m", "tests.whole.faults.spark_driver", str(world.folder)]
    command += [world.copy("spark_base", name) for name in orders]
    environment = {**os.environ, KILL_AT: str(force)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    left = [order.name for order in force.iterdir()]
    assert not left, f"nobody reached {left}: {done.stderr[-2000:]}"
    return done
