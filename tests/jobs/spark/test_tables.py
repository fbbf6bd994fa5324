"""Delta and Iceberg tables on Spark: every lane, an unshared query and the audit read what the file lane reads."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from expectations.check import Choice, check
from jobs.results import read_results, results_table
from jobs.runs.on_spark import evaluate
from jobs.runs.request import Options
from optimizer.planning.stream import plan_stream
from tests.worlds.tables import (
    FORMATS,
    KEYS_AND_DECIMALS,
    LENGTHS,
    QUERIES,
    STREAM,
    TableWorld,
    append_and_widen,
    in_files,
    rows,
)

UNSHARED = {"id": "listed", "stream": STREAM, "select": "collect_list(y)", "group_by": ["k"], **LENGTHS}
IN_SPARK = {"id": "clock", "stream": STREAM, "select": "count(*)", "where": "sin(x) > 0", **LENGTHS}


@pytest.mark.parametrize("format", FORMATS)
def test_every_lane_reads_the_table(tmp_path: Path, spark: SparkSession, format: str) -> None:
    """Partitions, a column that older files lack, a rename and a rewrite; two runs with a version between them."""
    world = TableWorld(tmp_path, format)
    if format == "delta":
        write_deltalake(world.path, rows(0), partition_by=["k"])
    else:
        world.append(rows(0).rename_columns(["ts", "k", "x"]))
        with world.iceberg().update_schema() as update:
            update.rename_column("x", "old")
        with world.iceberg().update_schema() as update:
            update.rename_column("old", "x")
    world.append(rows(1, y=[1.5] * 40))
    catalog = world.catalog([*QUERIES, UNSHARED, IN_SPARK])
    plan = plan_stream(catalog, STREAM, 10.0)
    lanes = ("auto", "frame")
    for lane in lanes:
        report = evaluate(spark, catalog, plan, str(tmp_path / lane), Options(lane, buckets=2))
        assert report.events == 80
    world.compact()
    world.append(rows(2, y=[2.5] * 40))
    for lane in lanes:
        report = evaluate(spark, catalog, plan, str(tmp_path / lane), Options(lane, files_per_batch=1, buckets=2))
        assert report.events == 40
        assert check(spark, catalog, STREAM, str(tmp_path / lane), Choice(everything=True)).audit.passed
    assert world.answers(catalog, "auto") == world.answers(catalog, "frame")
    shared = world.catalog()
    world.evaluate(shared, "local")
    assert world.answers(catalog, "auto")[:2] == world.answers(shared, "local")
    assert any(None not in row.values() for row in world.answers(catalog, "auto")[2])


@pytest.mark.parametrize("format", FORMATS)
def test_keys_and_decimals_that_are_widened_between_runs(tmp_path: Path, spark: SparkSession, format: str) -> None:
    """Both lanes and an unshared query go on in the wider types, and Spark reads the answers of before in them."""
    world = TableWorld(tmp_path, format)
    listed = {"id": "listed", "stream": STREAM, "select": "collect_list(d)", "group_by": ["x"], **LENGTHS}
    world.append(rows(0, d=pa.array([None] * 40, pa.decimal128(5, 2))).slice(0, 0))
    catalog = world.catalog([*KEYS_AND_DECIMALS, listed])
    plan = plan_stream(catalog, STREAM, 10.0)
    lanes = ("auto", "frame")

    def evaluate_all() -> None:
        for lane in lanes:
            evaluate(spark, catalog, plan, str(tmp_path / lane), Options(lane, buckets=2))

    wide = append_and_widen(world, evaluate_all)
    answers = {lane: world.answers(catalog, lane) for lane in lanes}
    of_files = in_files(world, wide, KEYS_AND_DECIMALS)
    catalog = world.catalog([*KEYS_AND_DECIMALS, listed])
    for lane in lanes:
        assert answers[lane][:-1] == of_files
        assert check(spark, catalog, STREAM, str(tmp_path / lane), Choice(everything=True)).audit.passed
        for id in catalog.statements:
            frame = read_results(spark, str(tmp_path / lane), catalog, id).toArrow()
            table = results_table(str(tmp_path / lane), catalog, id)
            assert sorted(map(str, frame.to_pylist())) == sorted(map(str, table.to_pylist()))
            assert [*map(str, frame.schema.types)] == [*map(str, table.schema.types)]


def test_a_table_frame_has_the_rows_of_the_table(tmp_path: Path, spark: SparkSession) -> None:
    """A dropped and a new column of one name are two, as the ids say."""
    from jobs.engine.sources import list_input_files
    from jobs.spark.stream_frames import table_frame

    world = TableWorld(tmp_path, "iceberg")
    world.append(rows(0))
    with world.iceberg().update_schema() as update:
        update.delete_column("x")
    world.append(rows(1, x=[7] * 40).cast(pa.schema([*list(rows(0).schema)[:2], pa.field("x", pa.int64())])))
    stream = world.catalog([QUERIES[0]]).streams[STREAM]
    frame = table_frame(spark, stream, list_input_files(stream))
    assert sorted(map(str, frame.select("x").toArrow()["x"].to_pylist())) == sorted(["None"] * 40 + ["7"] * 40)
