"""The engine against a plain Spark scan, itself without Spark, native Spark and polars: CPU seconds, as ratios.

    python -m benchmarks.engine [--events 10000000] [--only PART,PART]      (--help names the parts)

Everything is measured in one run, warm, by the CPU of the whole process tree. Scans and Spark's own
windows run in a process of their own, under Spark's own settings.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from pyspark.sql import SparkSession

from benchmarks.engine_batches import linearity, memory, more_queries, steady_state
from benchmarks.engine_peers import by_polars
from benchmarks.engine_world import RATE, World, measured, middle_point, show, world
from benchmarks.frame_lane import frame_lane
from benchmarks.plain_spark import NATIVE, plain_spark
from jobs.spark.session import spark_session


def ten_keys(spark: SparkSession, events: int) -> None:
    """The hundred queries by machine."""
    with world(events, 10, middle_point()) as here:
        _against_scan(spark, here, "100 queries, 10 keys", 1.6)


def one_key(spark: SparkSession, events: int) -> None:
    """The hundred queries over all events."""
    with world(events, 1, middle_point()) as here:
        _against_scan(spark, here, "100 queries, 1 key", 1.1)


def many_keys(spark: SparkSession, events: int) -> None:
    """Ten queries of slow slides over ten thousand machines."""
    long = [window for window in middle_point() if window.slide >= 100][:10]
    with world(events, 10_000, long, rate=10 * RATE) as here:
        _against_scan(spark, here, "10 queries, 10,000 keys", 2.6)


def _against_scan(spark: SparkSession, here: World, name: str, bound: float) -> None:
    """The whole job, results written, against one scan and against the engine alone."""
    scan = plain_spark("scan", here.root)
    local, job = measured(here.local, lambda: here.job(spark), warm=15, clear=here.clear)
    show(f"{name}: job against scan", job / scan, f"at most {bound}", f"{job:.2f} / {scan:.2f} CPU s")
    show(f"{name}: job against the engine in process", job / local, "at most 1.6", f"{job:.2f} / {local:.2f} CPU s")


def by_frames(spark: SparkSession, events: int) -> None:
    """The same by the frame lane, where Spark reads the events and aggregates them first."""
    with world(events, 10, middle_point()) as here:
        scan = plain_spark("scan", here.root)
        job = frame_lane(here.root)
    show("100 queries, 10 keys: frame lane against scan", job / scan, "3 to 6", f"{job:.2f} / {scan:.2f} CPU s")


def against_native(spark: SparkSession, events: int) -> None:
    """Spark's own windows for five of the hundred queries."""
    with world(events, 10, middle_point()) as here:
        (job,) = measured(lambda: here.job(spark), clear=here.clear)
        own = plain_spark("native", here.root)
    show(f"native Spark, {NATIVE} of the 100 queries, against all 100 here", own / job, "at least 20")
    show("  extrapolated to all 100", own / job * 100 / NATIVE, "an extrapolation")


def against_polars(spark: SparkSession, events: int) -> None:
    """Polars for all hundred queries."""
    with world(events, 10, middle_point()) as here:
        job, peer = measured(lambda: here.job(spark), lambda: by_polars(here), times=3, warm=5, clear=here.clear)
    show("polars on pre-aggregated seconds, all 100 queries", peer / job, "at least 5", f"{peer:.1f} / {job:.2f} CPU s")


PARTS: dict[str, Callable[[SparkSession, int], None]] = {
    "ten_keys": ten_keys,
    "one_key": one_key,
    "many_keys": many_keys,
    "frame": by_frames,
    "native": against_native,
    "polars": against_polars,
    "batches": lambda spark, events: steady_state(spark),
    "linear": linearity,
    "queries": more_queries,
    "memory": lambda spark, events: memory(events),
}


def main() -> None:
    """Run the parts asked for and print their ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--only", default=",".join(PARTS), help="some of " + ", ".join(PARTS))
    arguments = parser.parse_args()
    asked = arguments.only.split(",")
    if unknown := [name for name in asked if name not in PARTS]:
        parser.error(f"there is no part {', '.join(unknown)}; choose some of {', '.join(PARTS)}")
    spark = spark_session("local[2,4]")
    for name in asked:
        PARTS[name](spark, arguments.events)


if __name__ == "__main__":
    main()
