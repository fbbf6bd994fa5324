"""The zone of a stream: the clock by which its times are read."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from jobs.spark.choose_lane import knows_changes, queries_by_lane, read_changes
from jobs.spark.session import in_zone
from optimizer.errors import HeddleError
from optimizer.planning.stream import plan_stream
from optimizer.rewrite.script import rewrite
from tests.worlds.sources import source_world
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import STREAM

BERLIN = "Europe/Berlin"
WINDOW = "window(ts, '10 seconds')"
SQL = {
    "hours": f"SELECT window, sum(hour(ts) * 100 + hour(t2)) AS h, count(*) AS n FROM {STREAM} GROUP BY {WINDOW}",
    "days": f"SELECT t2, window, max(cast(t2 AS DATE)) AS d, max(cast(t2 AS STRING)) AS s FROM {STREAM} "
    f"WHERE hour(t2) >= 1 GROUP BY t2, {WINDOW}",
    "middle": f"SELECT window, median(hour(t2)) AS middle FROM {STREAM} GROUP BY {WINDOW}",
}


def events(zone: str | None) -> pa.Table:
    """Events around the change to summer time, where hours in Berlin skip from 1 to 3."""
    times = pa.array([second * SECOND for second in (1, 2, 11, 12, 21, 40)], pa.timestamp("us", zone))
    march = 1_711_846_800  # 2024-03-31 01:00 in UTC, 03:00 in Berlin
    seconds = [march - 7_201, march - 1, march, march + 3_600, None, march]
    others = pa.array([second and second * SECOND for second in seconds], pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "t2": others})


def test_the_rewriting_reads_the_clock_of_the_stream(tmp_path: Path) -> None:
    world = source_world(tmp_path, {"a.parquet": events("UTC")}, SQL, zone=BERLIN)
    script = rewrite(world.catalog, plan_stream(world.catalog, STREAM, 10.0, "shared", "auto"), {})
    assert script.views[0] == f"SET TIME ZONE '{BERLIN}'"


def test_the_lanes_read_the_clock_of_the_stream(spark: SparkSession, tmp_path: Path) -> None:
    woven = {id: sql for id, sql in SQL.items() if id != "middle"}
    world = source_world(tmp_path, {"a.parquet": events("UTC")}, woven, zone=BERLIN)
    assert knows_changes(spark, BERLIN)
    assert world.run(spark, "auto", "file").lane == "file"
    assert not world.differences(in_zone(spark, BERLIN), ["local", "file"])


def test_clocks_that_java_sets_otherwise_are_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    world = source_world(tmp_path, {"a.parquet": events("UTC")}, {"hours": SQL["hours"]}, zone=BERLIN)
    plan = plan_stream(world.catalog, STREAM, 10.0, "shared", "auto")
    known, reasons = queries_by_lane(world.catalog, plan, str(world.path / "a.parquet"), knows_clocks=False)
    assert known is not None
    assert [("Java knows differently" in reason) for reason in reasons.values()] == [True]
    named = spark._jvm.java.time.ZoneId.of("Europe/Paris").getRules()  # type: ignore[union-attr]
    listed = read_changes(named.getTransitions().toString())
    assert len(listed) > 100
    assert (323830800, 3_600, 7_200) in listed  # 1980-04-06, at two o'clock


def test_a_time_without_a_zone_has_none(tmp_path: Path) -> None:
    world = source_world(tmp_path, {"a.parquet": events(None)}, {"hours": SQL["hours"]}, zone=BERLIN)
    with pytest.raises(HeddleError, match=r"is no instant \(a timestamp_ntz\) and has no zone: leave out `zone`"):
        world.run(None, "local")  # type: ignore[arg-type]  # which takes no Spark
