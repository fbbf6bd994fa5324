"""What the engine's benchmarks share: events, queries, runs of the engine, and a meter that is warm."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from jobs.host.machine import CpuMeter
from jobs.runs.in_process import evaluate_local
from jobs.runs.on_spark import evaluate
from jobs.runs.report import RunReport
from jobs.runs.request import Options
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.definition import Plan
from optimizer.planning.stream import plan_stream
from optimizer.windows.window import Window
from optimizer.workloads import workload

RATE = 100  # events a second, over all keys: the longest range of the middle point fits in ten million
SECOND = 1_000_000


def middle_point(queries: int = 100) -> list[Window]:
    """Windows of the middle point of the papers' table: slides from the factors of 1,000, overlap up to 100."""
    return list(workload("factors", queries, seed=1, s_max=1000, o_max=100).windows())


def write_events(folder: Path, events: int, keys: int, files: int = 10, rate: int = RATE) -> None:
    """Readings of all machines in turn, in files that arrive in order."""
    rng = np.random.default_rng(1)
    names = pa.array([f"m{key:05d}" for key in range(keys)])
    folder.mkdir(parents=True)
    for number, part in enumerate(np.array_split(np.arange(events), files)):
        table = pa.table(
            {
                "ts": pa.array(part * SECOND // rate, pa.timestamp("us", "UTC")),
                "machine": names.take(pa.array(rng.integers(0, keys, len(part)))),
                "value": rng.normal(size=len(part)),
            }
        )
        pq.write_table(table, folder / f"part-{number:06d}.parquet")


def add_second_key(folder: Path) -> None:
    """Give the readings one more column to group by: one of twenty lines each."""
    rng = np.random.default_rng(2)
    for path in sorted(folder.iterdir()):
        table = pq.read_table(path)
        pq.write_table(table.append_column("line", [rng.integers(0, 20, table.num_rows)]), path)


def write_grouped_queries(root: Path, groupings: Sequence[str], shapes: Sequence[tuple[int, str]]) -> Catalog:
    """Write a query for every grouping, range and aggregate, each with a slide of a minute."""
    lines = ["streams:", "  events: {source: {format: parquet, path: data}, time: ts, lateness: 0 seconds}", "queries:"]
    lines += [
        f"  - {{id: q{number}_{length}, stream: events, select: {select}, group_by: [{columns}], "
        f"range: {length} seconds, slide: 60 seconds}}"
        for number, columns in enumerate(groupings)
        for length, select in shapes
    ]
    (root / "catalog").mkdir()
    (root / "catalog" / "catalog.yaml").write_text("\n".join(lines))
    return load_catalog(root / "catalog")


BOTH = ("sum(value)", "max(value)")


def write_queries(folder: Path, windows: list[Window], grouped: bool, selects: Sequence[str] = BOTH) -> Catalog:
    """Write the windows as max and sum queries, half and half, or with other aggregates in turn."""
    folder.mkdir(parents=True)
    lines = ["streams:", "  events: {source: {format: parquet, path: data}, time: ts, lateness: 0 seconds}", "queries:"]
    keys = ", group_by: [machine]" if grouped else ""
    for number, window in enumerate(windows):
        select = selects[number % len(selects)]
        clock = f"range: {window.range} seconds, slide: {window.slide} seconds"
        lines.append(f"  - {{id: q{number:04d}, stream: events, select: {select}{keys}, {clock}}}")
    (folder / "catalog.yaml").write_text("\n".join(lines))
    return load_catalog(folder)


@dataclass
class World:
    """A folder with events and a catalog, and its plan."""

    root: Path
    catalog: Catalog
    plan: Plan

    @property
    def data(self) -> Path:
        """The events."""
        return self.root / "data"

    def local(self) -> RunReport:
        """The engine in this process, as `heddle evaluate --local` runs it, into a new warehouse."""
        return evaluate_local(self.catalog, self.plan, str(self._new()), Options(buckets=2))

    def job(self, spark: SparkSession, options: Options = Options()) -> RunReport:  # noqa: B008 (frozen)
        """The engine on Spark, into a new warehouse."""
        return evaluate(spark, self.catalog, self.plan, str(self._new()), options)

    def _new(self) -> Path:
        return self.root / "warehouses" / uuid.uuid4().hex

    def clear(self) -> None:
        """Remove what runs have written, which is no part of them."""
        for folder in ("warehouses", "polars"):
            shutil.rmtree(self.root / folder, ignore_errors=True)


@contextmanager
def world(events: int, keys: int, windows: list[Window], files: int = 10, rate: int = RATE) -> Iterator[World]:
    """Events and queries in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_events(root / "data", events, keys, files, rate)
        catalog = write_queries(root / "catalog", windows, keys > 1)
        yield World(root, catalog, plan_stream(catalog, "events", rate, "weave_share", "two_stacks_block"))


def nothing() -> None:
    """There is nothing to clear."""


def measured(
    *runs: Callable[[], object], times: int = 6, warm: int = 6, clear: Callable[[], None] = nothing
) -> list[float]:
    """CPU seconds of the whole process tree for each, the least of some rounds after some that warm up: in turn, so
    that a slow minute of the machine hits all alike."""
    for _ in range(warm):
        for run in runs:
            run()
            clear()
    rounds = [[cpu(run, clear) for run in runs] for _ in range(times)]
    return [min(spent) for spent in zip(*rounds, strict=True)]


def cpu(run: Callable[[], object], clear: Callable[[], None] = nothing) -> float:
    """CPU seconds of one run."""
    with CpuMeter(poll_seconds=0.05) as meter:
        run()
    clear()
    return meter.cpu_seconds


def show(name: str, ratio: float, bound: str, detail: str = "") -> None:
    """One line: what was compared, the ratio, what it should be."""
    print(f"{name:58} {ratio:8.2f}   ({bound})   {detail}", flush=True)
