"""The engine against a plain Spark scan, itself without Spark, native Spark and polars: CPU seconds, as ratios.

    python -m benchmarks.engine [--events 10000000] [--only scan,local,...]

Everything is measured in one run, warm, by the CPU of the whole process tree.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from jobs.cpu_meter import CpuMeter
from jobs.engine.batch import close, run_batch
from jobs.engine.compile import compile_program
from jobs.engine.in_process import in_process
from jobs.engine.manifest import Manifest
from jobs.engine.source import splits_of
from jobs.engine.storage import Storage
from jobs.evaluate import evaluate
from jobs.lanes import file_types
from jobs.session import spark_session
from optimizer.catalog import Catalog, load_catalog
from optimizer.plan import Plan
from optimizer.stream_planning import plan_stream
from optimizer.windows.window import Window
from optimizer.workloads import workload

RATE = 1_000  # events a second, over all keys
FILES = 10
SECOND = 1_000_000


def write_events(folder: Path, events: int, keys: int) -> None:
    """Readings of all machines in turn, in files that arrive in order."""
    rng = np.random.default_rng(1)
    names = pa.array([f"m{key:05d}" for key in range(keys)])
    folder.mkdir(parents=True)
    for number, part in enumerate(np.array_split(np.arange(events), FILES)):
        table = pa.table(
            {
                "ts": pa.array(part * (SECOND // RATE), pa.timestamp("us", "UTC")),
                "machine": names.take(pa.array(rng.integers(0, keys, len(part)))),
                "value": rng.normal(size=len(part)),
            }
        )
        pq.write_table(table, folder / f"part-{number:06d}.parquet")


def write_queries(folder: Path, windows: list[Window], grouped: bool) -> Catalog:
    """The windows as max and sum queries, half and half."""
    folder.mkdir(parents=True)
    lines = ["streams:", "  events: {source: {format: parquet, path: data}, time: ts, lateness: 0 seconds}", "queries:"]
    keys = ", group_by: [machine]" if grouped else ""
    for number, window in enumerate(windows):
        select = "max(value)" if number % 2 else "sum(value)"
        clock = f"range: {window.range} seconds, slide: {window.slide} seconds"
        lines.append(f"  - {{id: q{number:04d}, stream: events, select: {select}{keys}, {clock}}}")
    (folder / "catalog.yaml").write_text("\n".join(lines))
    return load_catalog(folder)


def local_run(catalog: Catalog, plan: Plan, data: Path, warehouse: Path) -> None:
    """The same engine in this process."""
    files = [(str(path), path.stat().st_size) for path in sorted(data.glob("*.parquet"))]
    program = compile_program(catalog, plan, file_types(catalog, plan, files[0][0]))
    splits = [split for heap in splits_of(files, 1) for split in heap]
    storage = Storage(str(warehouse))
    after = run_batch(storage, Manifest(buckets=2), program, 0, in_process(splits))
    close(storage, after, program, in_process([]))


def measured(run: Callable[[], object], times: int = 3) -> float:
    """CPU seconds, the least of some runs after one that warms up."""
    run()
    return min(_cpu(run) for _ in range(times))


def _cpu(run: Callable[[], object]) -> float:
    with CpuMeter(poll_seconds=0.05) as meter:
        run()
    return meter.cpu_seconds


def scenario(spark: SparkSession, name: str, events: int, keys: int, windows: list[Window]) -> dict[str, float]:
    """CPU seconds of scan, engine in process and engine on Spark."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_events(root / "data", events, keys)
        catalog = write_queries(root / "catalog", windows, keys > 1)
        plan = plan_stream(catalog, "events", RATE, "weave_share", "two_stacks_block")

        def fresh(run: Callable[[Path], object]) -> Callable[[], object]:
            def again() -> object:
                shutil.rmtree(root / "warehouse", ignore_errors=True)
                return run(root / "warehouse")

            return again

        scan = measured(lambda: spark.read.parquet(str(root / "data")).agg({"value": "max"}).collect())
        local = measured(fresh(lambda w: local_run(catalog, plan, root / "data", w)))
        job = measured(fresh(lambda w: evaluate(spark, catalog, plan, str(w))))
    print(f"{name}: scan {scan:.2f}  in process {local:.2f}  on Spark {job:.2f} CPU seconds")
    print(f"  job/scan {job / scan:.2f}   job/in process {job / local:.2f}")
    return {"scan": scan, "local": local, "job": job}


def main() -> None:
    """Run all scenarios and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000)
    arguments = parser.parse_args()
    spark = spark_session("local[2,4]")
    middle = list(workload("factors", 100, seed=1, s_max=1000, o_max=100).windows())
    scenario(spark, "10 keys, 100 queries", arguments.events, 10, middle)
    scenario(spark, "1 key, 100 queries", arguments.events, 1, middle)
    long = [window for window in middle if window.slide >= 100][:10]
    scenario(spark, "10,000 keys, 10 queries", arguments.events, 10_000, long)


if __name__ == "__main__":
    main()
