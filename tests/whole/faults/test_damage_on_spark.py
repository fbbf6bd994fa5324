"""The same on Spark, in both lanes: a file that cannot be read is one line; mended or removed, the next run goes on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.engine.batch.run_batch import run_tasks
from jobs.engine.warehouse.lifecycle import only_run, stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.engine.work import Outcome
from jobs.host.storage import Storage
from jobs.runs.on_spark import evaluate
from jobs.runs.request import Options
from optimizer.errors import HeddleError
from tests.whole.faults.test_damage import cut, garble, harmed, refused
from tests.worlds.readings import STREAM, Readings, assert_same


@pytest.mark.parametrize(("lane", "number"), [("file", 4), ("frame", 3), ("frame", 4)])
def test_an_input_file_that_cannot_be_read(spark: SparkSession, spark_world: Readings, lane: str, number: int) -> None:
    world, warehouse, options = spark_world, spark_world.copy("spark_base", "unread"), Options(lane, files_per_batch=1)
    line = rf"^[^\n]*part-{number:05d}.parquet: cannot be read[^\n]* run again$"
    with harmed(world.path(number), cut if number == 3 else garble), pytest.raises(HeddleError, match=line):
        evaluate(spark, world.catalog, world.plan, warehouse, options)
    assert newest(stream_storage(warehouse, STREAM)).batch == number - 1
    gone = shutil.copytree(warehouse, world.folder / f"gone {lane} {number}")
    evaluate(spark, world.catalog, world.plan, warehouse, options)
    if lane == "file":  # sums of floats are those of the file lane, bit for bit
        assert_same(world, warehouse, world.warehouse("spark_reference"))
    away = Path(shutil.move(world.path(number), world.folder / "away"))
    try:
        evaluate(spark, world.catalog, world.plan, str(gone), options)
    finally:
        shutil.move(away, world.path(number))
    assert newest(stream_storage(str(gone), STREAM)).batch == newest(stream_storage(warehouse, STREAM)).batch


def test_two_runs_at_once(spark: SparkSession, spark_world: Readings) -> None:
    warehouse = spark_world.copy("spark_base", "twice")
    storage = stream_storage(warehouse, STREAM)
    with only_run(storage), refused(spark_world, warehouse, "is evaluating this stream; wait until it ends"):
        evaluate(spark, spark_world.catalog, spark_world.plan, warehouse)


@pytest.mark.spark
def test_a_connection_that_is_lost_is_no_matter_of_disks(tmp_path: Path) -> None:
    """The Java process may die while its answer is fetched: Spark's own words for that are found further out."""

    def execute(program: object, work: object) -> Outcome:
        raise ConnectionRefusedError(111, "Connection refused")

    with pytest.raises(ConnectionRefusedError):
        run_tasks(Storage(str(tmp_path)), None, None, execute, ())
