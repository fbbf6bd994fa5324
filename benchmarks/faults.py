"""Kills the driver, the JVM and a Python worker at every step of a batch on Spark, and compares what comes of it.

    python -m benchmarks.faults [--victim driver|jvm|worker]

Prints one line per kill: how the killed run ended, and whether the rows are the same, bit for bit, without an orphan.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession

from jobs.host.stops import DRIVER_STEPS, TASK_STEPS
from jobs.spark.session import spark_session
from tests.whole.faults.spark_runs import evaluate, run_apart
from tests.worlds.readings import Readings, assert_same, make_world

VICTIMS = {"driver": (*DRIVER_STEPS, *TASK_STEPS), "jvm": (*DRIVER_STEPS, *TASK_STEPS), "worker": TASK_STEPS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--victim", choices=VICTIMS, help="only this one")
    asked = parser.parse_args().victim
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder) / "world")
        spark = spark_session("local[2,4]")
        world.arrive(0, 1, 2)
        evaluate(spark, world, world.warehouse("spark_base"))
        world.arrive(3, 4)
        evaluate(spark, world, world.copy("spark_base", "reference"))
        print(f"{'victim':8} {'step':10} {'exit':>5} {'seconds':>8}  rows")
        for victim in [asked] if asked else VICTIMS:
            for step in VICTIMS[victim]:
                kill(spark, world, victim, step)


def kill(spark: SparkSession, world: Readings, victim: str, step: str) -> None:
    """One kill, one line."""
    started = time.perf_counter()
    name = f"{victim}_{step}"
    done = run_apart(world, {name: {step: "" if victim == "worker" else victim}})
    evaluate(spark, world, world.warehouse(name))
    try:
        assert_same(world, world.warehouse(name), world.warehouse("reference"))
        verdict = "the same"
    except AssertionError as difference:
        verdict = f"DIFFERENT: {difference}"
    print(f"{victim:8} {step:10} {done.returncode:5} {time.perf_counter() - started:8.1f}  {verdict}", flush=True)


if __name__ == "__main__":
    main()
