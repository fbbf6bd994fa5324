"""Rewritten statements against the originals on plain Spark: CPU seconds of both, as boosts.

    python -m benchmarks.rewriting [--events 10000000] [--windows 5,10,15,20] [--seeds 1] [--strategy factor_windows]
                                   [--sets random_gen,sequential_gen] [--kinds tumbling,hopping] [--covers]

The window sets are RandomGen and SequentialGen of Factor Windows, tumbling and hopping. Both sides are measured in one
run, warm, by the CPU of the whole process tree; each statement writes all its rows to nowhere.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from statistics import mean

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from jobs.host.machine import CpuMeter
from jobs.spark.session import spark_session
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.planning.stream import plan_stream
from optimizer.rewrite import Script, answer_types, rewrite
from optimizer.workloads import workload
from optimizer.workloads.workload import write_catalog

STREAM = "sensors"
RATE = 1_000  # events a second
FILES = 2
SECOND = 1_000_000


def write_events(folder: Path, events: int, rate: int = RATE) -> None:
    """Readings at a steady rate."""
    rng = np.random.default_rng(1)
    folder.mkdir(parents=True)
    for number, part in enumerate(np.array_split(np.arange(events), FILES)):
        times = pa.array(part * (SECOND // rate), pa.timestamp("us", "UTC"))
        table = pa.table({"ts": times, "energy_1": rng.normal(size=len(part))})
        pq.write_table(table, folder / f"part-{number}.parquet")


def to_nowhere(spark: SparkSession, statements: Iterable[str]) -> None:
    """Run statements for all their rows."""
    for sql in statements:
        spark.sql(sql).write.format("noop").mode("overwrite").save()


def run_script(spark: SparkSession, script: Script) -> None:
    """The script as it stands; the views are made anew."""
    for sql in script.views:
        spark.sql(sql)
    to_nowhere(spark, script.answers.values())


def cpu_seconds(run: Callable[[], None], times: int) -> float:
    """The least of some runs after one that warms up."""
    run()
    measured = []
    for _ in range(times):
        with CpuMeter(poll_seconds=0.05) as meter:
            run()
        measured.append(meter.cpu_seconds)
    return min(measured)


def both(spark: SparkSession, catalog: Catalog, strategy: str, times: int) -> tuple[float, float]:
    """CPU seconds of the originals and of the rewritten statements."""
    plan = plan_stream(catalog, STREAM, RATE, strategy, technique="auto")
    script = rewrite(catalog, plan, answer_types(catalog, STREAM))
    run_script(spark, script)  # the stream's view is there for both
    originals = [statement.sql for statement in catalog.statements.values()]
    before = cpu_seconds(lambda: to_nowhere(spark, originals), times)
    return before, cpu_seconds(lambda: run_script(spark, script), times)


def covered(spark: SparkSession, folder: Path, times: int) -> None:
    """Maxima over windows that cover each other, which read slices, and which read each other's windows."""
    for ranges, slide in (((60, 120), 10), ((60, 90, 120), 5), ((300, 330, 600), 10), ((600, 900, 1200, 3600), 10)):
        windows = [
            f"{{id: q{r}, stream: {STREAM}, select: max(energy_1), range: {r} s, slide: {slide} s}}" for r in ranges
        ]
        source = f"streams:\n  {STREAM}: {{source: {{path: {folder / 'data'}}}, time: ts}}\n"
        place = folder / f"covered-{'-'.join(map(str, ranges))}"
        place.mkdir()
        (place / "catalog.yaml").write_text(source + "queries:\n" + "".join(f"  - {line}\n" for line in windows))
        catalog = load_catalog(place)
        plan = plan_stream(catalog, STREAM, RATE, "shared", technique="auto")
        scripts = [rewrite(catalog, plan, answer_types(catalog, STREAM), may_cover) for may_cover in (False, True)]
        slices, others = (cpu_seconds(lambda script=script: run_script(spark, script), times) for script in scripts)
        reading = "" if scripts[0].text != scripts[1].text else ", the same"
        named = ", ".join(map(str, ranges))
        print(f"  {named} s every {slide}: {slices:.2f} of slices, {others:.2f} of windows{reading}", flush=True)


def numbers(text: str) -> list[int]:
    """Numbers between commas."""
    return [int(part) for part in text.split(",")]


def window_sets(folder: Path, generator: str, hopping: bool, counts: list[int], seeds: int) -> Iterator[Catalog]:
    """Catalogs of so many windows, one for every seed."""
    for count in counts:
        for seed in range(seeds):
            place = folder / f"{generator}-{hopping}-{count}-{seed}"
            write_catalog(workload(generator, count, seed, hopping=hopping), place, str(folder / "data"))
            yield load_catalog(place)


def boosts(spark: SparkSession, catalogs: Iterable[Catalog], strategy: str, times: int) -> list[float]:
    """How many times the CPU of the rewritten statements the originals take."""
    found = []
    for catalog in catalogs:
        before, after = both(spark, catalog, strategy, times)
        found.append(before / after)
        count = len(catalog.statements)
        print(f"  {count:2} windows: {before:7.2f} against {after:6.2f} CPU seconds, boost {found[-1]:.1f}", flush=True)
    return found


def options() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--windows", type=numbers, default=[5, 10, 15, 20])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--strategy", default="factor_windows")
    parser.add_argument("--sets", default="random_gen,sequential_gen")
    parser.add_argument("--covers", action="store_true", help="only windows that read the windows of others")
    parser.add_argument("--kinds", default="tumbling,hopping")
    return parser.parse_args()


def main() -> None:
    """Measure every window set and print its boost, then the means."""
    given = options()
    spark = spark_session("local[2]")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_events(folder / "data", given.events)
        if given.covers:
            print("windows that cover others, CPU seconds", flush=True)
            covered(spark, folder, given.times)
            return
        for generator, kind in product(given.sets.split(","), given.kinds.split(",")):
            print(f"{generator}, {kind}", flush=True)
            catalogs = window_sets(folder, generator, kind == "hopping", given.windows, given.seeds)
            print(f"  mean boost {mean(boosts(spark, catalogs, given.strategy, given.times)):.1f}", flush=True)


if __name__ == "__main__":
    main()
