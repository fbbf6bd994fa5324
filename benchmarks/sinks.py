"""What sinks add to a micro-batch: a million events, a hundred statements, every one a table of each sink.

    python -m benchmarks.sinks [--events 1000000] [--statements 100] [--batches 6] [--formats delta]

Batch after batch in this process: CPU and wall seconds of evaluating a batch and of delivering it, the medians of all
batches but the first, whose tables are not there yet.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

from benchmarks.engine_world import World, middle_point, show, world
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from jobs.sinks import SINKS
from jobs.sinks.deliver import deliver
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
    asked = parser.parse_args()
    for format in asked.formats:
        events = asked.events * asked.batches
        with world(events, asked.keys, middle_point(asked.statements), files=asked.batches) as place:
            measure(place, format, asked.batches)


def measure(place: World, format: str, batches: int) -> None:
    """Evaluate and deliver batch after batch, and print the ratio of the two."""
    catalog = _with_sink(place, format)
    files = sorted(place.data.iterdir())
    for file in files[1:]:
        file.rename(place.root / file.name)
    evaluated, delivered, rows = [], [], []
    for number in range(batches):
        if number:
            (place.root / files[number].name).rename(files[number])
        evaluated.append(_timed(lambda: evaluate_local(catalog, place.plan, _warehouse(place), Options(buckets=2))))
        delivered.append(_timed(lambda: deliver(catalog, "events", _warehouse(place), print)))
        files_of_batch = newest(stream_storage(_warehouse(place), "events")).results
        rows.append(sum(file.rows for file in files_of_batch if file.batch == number and not file.tier))
    for clock, name in enumerate(("CPU", "wall")):
        work, sink = (statistics.median(seconds[clock] for seconds in all[1:]) for all in (evaluated, delivered))
        detail = f"{sink:.2f} s for {statistics.median(rows[1:]):,.0f} rows; evaluated in {work:.2f} s"
        show(f"{format} sink over the evaluation of a batch, {name}", sink / work, f"at most {BOUND}", detail)


def _timed(run: Callable[[], object]) -> Seconds:
    cpu, wall = time.process_time(), time.perf_counter()
    run()
    return time.process_time() - cpu, time.perf_counter() - wall


def _warehouse(place: World) -> str:
    return str(place.root / "warehouse")


def _with_sink(place: World, format: str) -> Catalog:
    streams = dict(place.catalog.streams)
    path = place.root / ("sink.db" if format == "sql" else "sink")
    streams["events"] = replace(streams["events"], sinks=(Sink("sink", format, str(path)),))
    return replace(place.catalog, streams=streams)


if __name__ == "__main__":
    main()
