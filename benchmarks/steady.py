"""What a steady micro-batch costs, whatever the ranges: batch after batch in this process, in CPU seconds.

State is files of slices and chunks. Beside the seconds it prints how many rows of the state a batch loads, folds into
chunks and retains, and how many files and bytes a warehouse has after many batches.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.verdict import Bound, print_verdict
from jobs.engine.batch.run_batch import run_batch
from jobs.engine.events.file_types import file_types
from jobs.engine.events.parquet import Split
from jobs.engine.program.compile import compile_program
from jobs.engine.warehouse.lifecycle import stream_storage, sweep
from jobs.engine.warehouse.manifest import Manifest, manifest_name
from jobs.runs.in_process import in_process
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.counters import LOADED, MERGED, SAVED
from optimizer.planning.stream import plan_stream

SECOND = 1_000_000
MINUTE, HOUR, DAY = 60, 3600, 86_400
STREAM = "events"


@dataclass(frozen=True)
class Setting:
    """A stream and its batches: queries as (select, range, slide), and how far back the first batch reaches."""

    queries: Sequence[tuple[str, int, int]]
    keys: int
    batch_seconds: int
    events: int = 10_000
    past: int = 0  # seconds before the first steady batch, with an event per key and slice


@dataclass(frozen=True)
class Steady:
    """CPU seconds of every steady batch, and what is at rest after the last one."""

    seconds: list[float]
    manifest: Manifest
    state_bytes: int
    manifest_bytes: int
    files: int

    @property
    def median(self) -> float:
        """The CPU seconds of a batch."""
        return statistics.median(self.seconds)

    @property
    def mean(self) -> float:
        """The CPU seconds of a batch, with the share of what happens now and then."""
        return statistics.fmean(self.seconds)


def write_past(path: Path, setting: Setting, slide: int) -> None:
    """Write one event per key and slice up to time 0."""
    starts = np.arange(-setting.past, 0, slide) * SECOND + SECOND // 2
    _write(path, np.repeat(starts, setting.keys), np.tile(np.arange(setting.keys), len(starts)))


def write_batch(path: Path, setting: Setting, number: int) -> None:
    """Write the events of one steady batch, evenly spread."""
    span = setting.batch_seconds * SECOND
    times = number * span + np.arange(setting.events) * span // setting.events
    _write(path, times, np.random.default_rng(number).integers(0, setting.keys, setting.events))


def _write(path: Path, times: np.ndarray, keys: np.ndarray) -> None:
    names = pa.array([f"m{key:05d}" for key in range(int(keys.max()) + 1)])
    values = np.random.default_rng(len(times)).normal(size=len(times))
    moment = pa.array(times + 30_000 * DAY * SECOND // 2, pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"ts": moment, "machine": names.take(pa.array(keys)), "value": values}), path)


def run_steadily(setting: Setting, batches: int, profile: bool = False, buckets: int = 1) -> Steady:
    """Run the past as one batch, then steady ones; sweep as a run does when it begins."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "catalog").mkdir()
        lines = ["streams:", f"  {STREAM}: {{source: {{format: parquet, path: data}}, time: ts, lateness: 0 seconds}}"]
        lines.append("queries:")
        for number, (select, range_, slide) in enumerate(setting.queries):
            clock = f"range: {range_} seconds, slide: {slide} seconds"
            lines.append(f"  - {{id: q{number}, stream: {STREAM}, select: {select}, group_by: [machine], {clock}}}")
        (root / "catalog" / "catalog.yaml").write_text("\n".join(lines))
        catalog = load_catalog(root / "catalog")
        rate = setting.events / setting.batch_seconds
        plan = plan_stream(catalog, STREAM, rate, "shared", "two_stacks_block")
        storage = stream_storage(str(root / "warehouse"), STREAM)
        manifest = replace(Manifest(), buckets=buckets)
        data, seconds = root / "events.parquet", []
        write_past(data, setting, min(slide for _, _, slide in setting.queries))
        program = compile_program(catalog, plan, file_types(catalog, plan, str(data)))
        profiler = cProfile.Profile(time.process_time)
        for batch in range(batches + 3):  # the past, then two batches until the watermark has come to the present
            if batch == 3:
                manifest = replace(manifest, results=())  # those of the past would be merged with what follows
            if batch:
                write_batch(data, setting, batch - 1)
            if profile and batch > 2:
                profiler.enable()
            started = time.process_time()
            manifest = run_batch(storage, manifest, program, batch, in_process([Split(str(data), data.stat().st_size)]))
            seconds.append(time.process_time() - started)
            profiler.disable()
            if batch % 10 == 9:
                sweep(storage, manifest)
        sweep(storage, manifest)
        if profile:
            pstats.Stats(profiler).sort_stats("cumulative").print_stats(70)
        sizes = {name: Path(storage.path(name)).stat().st_size for name in manifest.files()}
        state_bytes = sum(sizes[file.name] for file in manifest.state)
        length = Path(storage.path(manifest_name(manifest.sequence))).stat().st_size
        return Steady(seconds[3:], manifest, state_bytes, length, len(sizes))


def show(text: str, steady: Steady) -> None:
    """Print one line of figures."""
    rows = sum(file.rows for file in steady.manifest.state)
    done = steady.manifest.counts["done"]
    counts = {name: sum(tree.get(name, 0) for tree in done.values()) for name in (LOADED, MERGED, SAVED)}
    print(
        f"{text}: {steady.median * 1000:.1f} ms (mean {steady.mean * 1000:.1f}), state {rows:,} rows, "
        f"{steady.state_bytes / 1e6:.1f} MB, {len(steady.manifest.state)} state files, "
        f"manifest {steady.manifest_bytes:,} bytes; last batch {counts}"
    )


AGGREGATES = ("sum(value)", "max(value)", "avg(value)", "count(*)")


def long_ranges(batches: int, keys: int, profile: bool) -> list[Bound]:
    """Ranges of 30 days against ranges of one hour, at 1-minute slides."""

    def over(range_: int) -> Setting:
        queries = [(select, range_, MINUTE) for select in AGGREGATES]
        return Setting(queries, keys, 10 * MINUTE, past=range_)

    short = run_steadily(over(HOUR), batches)
    long = run_steadily(over(30 * DAY), batches, profile)
    show(f"ranges of 1 hour, {keys} keys", short)
    show(f"ranges of 30 days, {keys} keys", long)
    slices = 30 * DAY // MINUTE * keys
    rows = sum(file.rows for file in long.manifest.state)
    return [
        Bound("ranges of 30 days against 1 hour", long.mean / short.mean, 1.5, ".2f"),
        Bound("state at rest against its slices", rows / slices, 2.5, ".2f"),
    ]


def mixed_ranges(batches: int, slide: int, profile: bool) -> Bound:
    """Queries of 10 s and of 1,000 s against those of 10 s alone, over 1-second slices, at 1,000 keys."""
    brief = [(select, 10, 1) for select in AGGREGATES]
    both = [*brief, *((select, 1000, slide) for select in AGGREGATES)]
    short = run_steadily(Setting(brief, 1000, 10, past=1000), batches)
    mixed = run_steadily(Setting(both, 1000, 10, past=1000), batches, profile)
    show("queries of 10 s by 1 s alone, 1,000 keys", short)
    show(f"with queries of 1,000 s by {slide} s", mixed)
    return Bound("queries of 10 s and 1,000 s against 10 s alone", mixed.mean / short.mean, 1.3, ".2f")


def many_batches(batches: int, profile: bool) -> Bound:
    """The last ten of many batches against the first ten."""
    queries = [("sum(value)", 10 * MINUTE, 10), ("max(value)", HOUR, MINUTE), ("avg(value)", 6 * HOUR, MINUTE)]
    steady = run_steadily(Setting(queries, 100, MINUTE, past=6 * HOUR), batches, profile)
    first, last = statistics.fmean(steady.seconds[:10]), statistics.fmean(steady.seconds[-10:])
    show(f"{batches} batches", steady)
    print(f"files {steady.files}")
    return Bound(f"the last ten of {batches} batches against the first ten", last / first, 1.2, ".2f")


def main() -> int:
    """Print what steady batches cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["long", "mixed", "many"])
    parser.add_argument("--batches", type=int, default=40)
    parser.add_argument("--keys", type=int, default=10)
    parser.add_argument("--slide", type=int, default=10, help="of the long queries beside short ones")
    parser.add_argument("--profile", action="store_true")
    asked = parser.parse_args()
    bounds: list[Bound] = []
    if asked.only in (None, "long"):
        bounds += long_ranges(asked.batches, asked.keys, asked.profile)
    if asked.only in (None, "mixed"):
        bounds.append(mixed_ranges(asked.batches, asked.slide, asked.profile))
    if asked.only in (None, "many"):
        bounds.append(many_batches(300, asked.profile))
    return 0 if print_verdict(bounds) else 1


if __name__ == "__main__":
    sys.exit(main())
