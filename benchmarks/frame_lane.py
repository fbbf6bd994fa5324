"""The frame lane in a process of its own, whose JVM compiles its code as for streams that Spark itself reads.

python -m benchmarks.frame_lane FOLDER      (FOLDER holds data/ and catalog/): CPU seconds of a job
python -m benchmarks.frame_lane [own [EVENTS]]       the job against Spark's own groupBy over the same slices
python -m benchmarks.frame_lane groupings [EVENTS]   two groupings: one pass for both against one each
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

from benchmarks.engine_world import (
    RATE,
    World,
    add_second_key,
    measured,
    middle_point,
    show,
    world,
    write_events,
    write_grouped_queries,
)
from jobs.engine.feed.spark_partials import aggregations, pass_edges
from jobs.engine.sources import list_input_files
from jobs.runs.request import Options
from jobs.spark import frame_lane as lane
from jobs.spark.choose_lane import choose_lanes
from jobs.spark.session import JAVA_OPTIONS, java_options, spark_session
from optimizer.catalog.read.load import load_catalog
from optimizer.planning.stream import plan_stream
from optimizer.rewrite.partials import microseconds, since_edge

EVENTS = 3_000_000


def frame_lane(root: Path) -> float:
    """CPU seconds of a job."""
    command = [sys.executable, "-m", "benchmarks.frame_lane", str(root)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return float(done.stdout)


def working_session() -> SparkSession:
    """Spark as a job starts it in which Spark reads the events."""
    return spark_session("local[2,4]", {JAVA_OPTIONS: java_options(working=True)})


def plan_world(root: Path) -> World:
    """The events and queries of a folder, planned."""
    catalog = load_catalog(root / "catalog")
    return World(root, catalog, plan_stream(catalog, "events", RATE, "weave_share", "two_stacks_block"))


def job(root: str) -> None:
    """Print the CPU seconds of a job."""
    spark, here = working_session(), plan_world(Path(root))
    print(*measured(lambda: here.job(spark, Options(lane="frame")), times=3, warm=3, clear=here.clear))


def against_own(events: int) -> None:
    """The job, with all its answers written, against Spark's own sum and max by key and slice."""
    spark = working_session()
    with world(events, 10, middle_point()) as here:
        program = choose_lanes(
            spark, here.catalog, here.plan, list_input_files(here.catalog.streams["events"]), "frame"
        ).program
        (aggregation,) = aggregations(program)
        moment = microseconds("ts")
        start = f"{moment} - ({since_edge(pass_edges(aggregation.edges), moment, 1 << 16)})"

        def group() -> None:
            frame = spark.read.parquet(str(here.data)).selectExpr("machine", f"{start} AS slice", "value")
            by_slice = frame.groupBy("machine", "slice").agg(F.sum("value"), F.max("value"))
            by_slice.write.format("noop").mode("overwrite").save()

        ours, own = measured(lambda: here.job(spark, Options(lane="frame")), group, times=4, warm=4, clear=here.clear)
    show("frame lane against Spark's own groupBy", ours / own, "at most 1.3", f"{ours:.2f} / {own:.2f} CPU s")


def several_groupings(events: int) -> None:
    """The same queries by one key and by another, whose events Spark reads once or twice."""
    spark = working_session()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_events(root / "data", events, 10)
        add_second_key(root / "data")
        shapes = ((60, "sum(value)"), (300, "max(value)"), (600, "avg(value)"))
        write_grouped_queries(root, ("machine", "line"), shapes)
        here = plan_world(root)

        def run(in_one: bool) -> None:
            lane.is_one_pass_cheaper = lambda *_: in_one
            here.job(spark, Options(lane="frame"))

        one, each = measured(lambda: run(True), lambda: run(False), times=4, warm=4, clear=here.clear)
    show("two groupings: one pass against one each", one / each, "less than 1", f"{one:.2f} / {each:.2f} CPU s")


def main(what: str = "own", events: str = str(EVENTS)) -> None:
    """Run what the command line names."""
    parts = {"own": against_own, "groupings": several_groupings}
    if what in parts:
        parts[what](int(events))
    else:
        job(what)


if __name__ == "__main__":
    main(*sys.argv[1:])
