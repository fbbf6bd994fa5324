"""One world for all faults: two files evaluated, two more waiting, and what an undisturbed run makes of them."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.whole.faults import local_runs, spark_runs
from tests.worlds.readings import Readings, make_world


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Readings:
    """The warehouses `base` and `reference` hold the runs without Spark."""
    made = make_world(tmp_path_factory.mktemp("faults"))
    made.arrive(0, 1, 2)
    local_runs.evaluate(made, made.warehouse("base"))
    made.arrive(3, 4)
    local_runs.evaluate(made, made.copy("base", "reference"))
    return made


@pytest.fixture(scope="session")
def spark_world(spark: SparkSession, world: Readings) -> Readings:
    """The world, its first files evaluated on Spark, too."""
    waiting = {number: world.path(number).read_bytes() for number in (3, 4)}
    for number in waiting:
        world.path(number).unlink()
    spark_runs.evaluate(spark, world, world.warehouse("spark_base"))
    world.arrive(*waiting)
    spark_runs.evaluate(spark, world, world.copy("spark_base", "spark_reference"))
    return world
