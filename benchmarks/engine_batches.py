"""The price of a micro-batch in a stream that never ends, and what more events and more queries cost."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from benchmarks.engine_world import World, measured, middle_point, show, world
from jobs.runs.on_spark import LISTING
from jobs.runs.request import Options

SMALL = 10_000  # events of a micro-batch
BATCHES = 24
WARM = 8  # batches that do not count


def steady_state(spark: SparkSession) -> None:
    """Wall time of a small batch against a batch that does nothing."""
    with world(SMALL * BATCHES, 10, middle_point(), files=BATCHES) as small:
        small.job(spark, Options(files_per_batch=1))
        ours = small.job(spark, Options(files_per_batch=1)).batch_seconds[WARM:BATCHES]
        empty = _empty_batches(spark, small)
    above = statistics.median(ours) - statistics.median(empty)
    show("a micro-batch of 10,000 events above an empty one, seconds", above, "at most 0.5")


def _empty_batches(spark: SparkSession, small: World) -> list[float]:
    ends: list[float] = []

    def nothing(listing: DataFrame, batch: int) -> None:
        listing.collect()
        ends.append(time.monotonic())

    with tempfile.TemporaryDirectory() as checkpoint:
        listing = spark.readStream.format("binaryFile").schema(LISTING).option("maxFilesPerTrigger", 1)
        query = listing.load(str(small.data)).select("path", "length").writeStream.foreachBatch(nothing)
        query.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()
    return [after - before for before, after in zip(ends[WARM:], ends[WARM + 1 :], strict=False)]


def linearity(spark: SparkSession, events: int) -> None:
    """A third of the events against all of them, per event."""
    with world(events // 3, 10, middle_point()) as third, world(events, 10, middle_point()) as whole:
        less, more = _in_turn(spark, third, whole)
    show("CPU per event, all events against a third", more / less / 3, "at most about 1: linear")


def more_queries(spark: SparkSession, events: int) -> None:
    """Ten times the queries over the same slides."""
    with world(events, 10, middle_point()) as hundred, world(events, 10, middle_point(1_000)) as thousand:
        less, more = _in_turn(spark, hundred, thousand)
    detail = f"{more:.2f} / {less:.2f} CPU s"
    show("1,000 queries against 100, results included", more / less, "at most 4", detail)


def _in_turn(spark: SparkSession, one: World, other: World) -> list[float]:
    def clear() -> None:
        one.clear()
        other.clear()

    return measured(lambda: one.job(spark), lambda: other.job(spark), times=5, warm=5, clear=clear)


def memory(events: int) -> None:
    """The largest process of a run at ten times the events in the same slices."""
    few, many = (_peak(events // 10 * times, times) for times in (1, 10))
    show("memory of a task, ten times the events per slice", many / few, "at most 1.3", f"{many / 1024:.0f} MB")


def _peak(events: int, density: int) -> float:
    """Peak kilobytes of the engine in a process of its own, where nothing but the run takes memory."""
    with world(events, 10, middle_point(), rate=100 * density) as dense:
        code = "import sys; from benchmarks.engine_batches import run_alone; run_alone(sys.argv[1])"
        done = subprocess.run(
            [sys.executable, "-c", code, str(dense.root)], capture_output=True, text=True, check=True, env=os.environ
        )
    return float(done.stdout)


def run_alone(root: str) -> None:
    """Evaluate a world's events in this process, and print its peak memory."""
    import resource

    from optimizer.catalog.read.load import load_catalog
    from optimizer.planning.stream import plan_stream

    catalog = load_catalog(Path(root) / "catalog")
    World(Path(root), catalog, plan_stream(catalog, "events", 1000, "weave_share", "two_stacks_block")).local()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
