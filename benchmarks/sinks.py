"""What sinks add to a micro-batch: a million events, a hundred statements, every one a table of each sink.

    python -m benchmarks.sinks [--events 1000000] [--statements 100] [--batches 6] [--formats delta] [--spark]

Batch after batch: CPU seconds (of the process and its children) and wall seconds of evaluating a batch and of
delivering it, the medians of all batches but the first, whose tables are not there yet. Batches are evaluated in this
process, as `heddle evaluate --local` does it; with --spark by a warm session of Spark, as the DAGs have it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import SparkSession

from benchmarks.engine_world import World, middle_point, show, world
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host.machine import CpuMeter
from jobs.runs.in_process import evaluate_local
from jobs.runs.on_spark import evaluate
from jobs.runs.request import Options
from jobs.sinks import SINKS
from jobs.sinks.deliver import deliver
from jobs.spark.session import spark_session
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Sink

BOUND = 0.3  # of the evaluation
Seconds = tuple[float, float]  # CPU of this process, wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000, help="of a batch")
    parser.add_argument("--statements", type=int, default=100)
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--keys", type=int, default=10)
    parser.add_argument("--formats", nargs="+", choices=SINKS, default=["delta"])
    parser.add_argument("--spark", action="store_true", help="evaluate on Spark")
    options = parser.parse_args()
    spark = spark_session("local[2]") if options.spark else None
    for format in options.formats:
        events = options.events * options.batches
        with world(events, options.keys, middle_point(options.statements), files=options.batches) as place:
            measure(place, format, options.batches, spark)


def measure(place: World, format: str, batches: int, spark: SparkSession | None = None) -> None:
    """Evaluate and deliver batch after batch, and print the ratio of the two."""
    catalog = _with_sink(place, format)
    files = sorted(place.data.iterdir())
    for file in files[1:]:
        file.rename(place.root / file.name)
    evaluated, delivered, rows = [], [], []
    for number in range(batches):
        if number:
            (place.root / files[number].name).rename(files[number])
        evaluated.append(_timed(lambda: _evaluate(catalog, place, spark)))
        delivered.append(_timed(lambda: deliver(catalog, "events", _warehouse(place), print)))
        files_of_batch = newest(stream_storage(_warehouse(place), "events")).results
        rows.append(sum(file.rows for file in files_of_batch if file.batch == number and not file.tier))
    for clock, name in enumerate(("CPU", "wall")):
        work, sink = (statistics.median(seconds[clock] for seconds in all[1:]) for all in (evaluated, delivered))
        detail = f"{sink:.2f} s for {statistics.median(rows[1:]):,.0f} rows; evaluated in {work:.2f} s"
        where = "on Spark" if spark else "in process"
        show(f"{format} sink over a batch evaluated {where}, {name}", sink / work, f"at most {BOUND}", detail)


def _evaluate(catalog: Catalog, place: World, spark: SparkSession | None) -> None:
    if spark:
        evaluate(spark, catalog, place.plan, _warehouse(place), Options(buckets=2))
    else:
        evaluate_local(catalog, place.plan, _warehouse(place), Options(buckets=2))


def _timed(run: Callable[[], object]) -> Seconds:
    started = time.perf_counter()
    with CpuMeter(poll_seconds=0.05) as meter:
        run()
    return meter.cpu_seconds, time.perf_counter() - started


def _warehouse(place: World) -> str:
    return str(place.root / "warehouse")


def _with_sink(place: World, format: str) -> Catalog:
    streams = dict(place.catalog.streams)
    path = place.root / ("sink.db" if format == "sql" else "sink")
    streams["events"] = replace(streams["events"], sinks=(Sink("sink", format, str(path)),))
    return replace(place.catalog, streams=streams)


if __name__ == "__main__":
    main()
