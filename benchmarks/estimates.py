"""How far estimated throughput is from measured: techniques x strategies x catalogs, by the engine without Spark.

    python -m benchmarks.estimates [--scale 1] [--queries 12]

Seconds are CPU seconds of feeding trees and answering windows, the least of some runs; streams last many times the
longest range. Estimates come three ways: by the papers' operations alone; in seconds, with prices fitted from other
runs of the same plans; and in seconds, with prices fitted from the other catalogs only, which differ in rate, keys and
length. Every series is normalised by its mean over a catalog, as in the papers. The floor is how far two measurements
of the same plan are apart.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.engine_world import write_events, write_queries
from jobs.engine.batch.in_process import in_process
from jobs.engine.batch.run_batch import close, run_batch
from jobs.engine.events.file_types import file_types
from jobs.engine.events.input_files import File
from jobs.engine.events.parquet import splits_of
from jobs.engine.program.compile import compile_program
from jobs.engine.warehouse.manifest import Manifest
from jobs.host.storage import Storage
from jobs.tracking.evaluations import WORK
from jobs.tracking.past import deviations, mean
from optimizer.catalog.model.catalog import Catalog
from optimizer.plan.definition import Plan
from optimizer.plan.operations import operations_for
from optimizer.plan.prices import Measured, fit_prices
from optimizer.planning.stream import plan_stream
from optimizer.workloads import workload

TECHNIQUES = ("panes", "flat_fat", "b_int", "flat_fit", "two_stacks", "daba", "two_stacks_block")
STRATEGIES = ("no_share", "weave_share", "shared")


@dataclass(frozen=True)
class Setting:
    """A workload, and the stream that it runs on."""

    options: dict[str, int]
    rate: int  # events a second, over all keys
    keys: int
    seconds: int


CATALOGS = {
    "factors": Setting({"s_max": 20, "o_max": 40}, 20, 1, 50_000),
    "trades_a": Setting({}, 50, 5, 40_000),
    "zipf_slides": Setting({"s_max": 16, "o_max": 20}, 10, 1, 40_000),
}
REPEATS = 2


@dataclass(frozen=True)
class Row:
    """One plan: what it should cost, and the seconds of two separate measurements."""

    catalog: str
    technique: str
    strategy: str
    events: int
    first: Measured
    second: Measured


def seconds_of(catalog: Catalog, plan: Plan, data: Path, warehouse: Path) -> float:
    """Seconds of the engine's own work, from scratch."""
    shutil.rmtree(warehouse, ignore_errors=True)
    files = [File(str(path), path.stat().st_size) for path in sorted(data.glob("*.parquet"))]
    program = compile_program(catalog, plan, file_types(catalog, plan, files[0][0]))
    splits = [split for heap in splits_of(files, 1) for split in heap]
    storage = Storage(str(warehouse))
    batch = run_batch(storage, Manifest(buckets=1), program, 0, in_process(splits))
    end = close(storage, batch, program, in_process([]))
    return sum(found.counts["seconds"].get(step, 0.0) for found in (batch, end) for step in WORK)


def measured(name: str, setting: Setting, scale: float, queries: int) -> Iterator[Row]:
    """Every technique and strategy on one catalog."""
    events = int(setting.rate * setting.seconds * scale)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_events(root / "data", events, setting.keys, rate=setting.rate)
        windows = sorted(set(workload(name, queries, seed=3, **setting.options).windows()))
        catalog = write_queries(root / "catalog", windows, setting.keys > 1)
        for strategy in STRATEGIES:
            for technique in TECHNIQUES:
                plan = plan_stream(catalog, "events", setting.rate, strategy, technique, setting.keys)
                runs = [seconds_of(catalog, plan, root / "data", root / "out") for _ in range(2 * REPEATS + 1)][1:]
                operations = operations_for(plan, events)
                first, second = min(runs[::2]), min(runs[1::2])
                yield Row(name, technique, strategy, events, Measured(operations, first), Measured(operations, second))


def deviation(rows: Sequence[Row], seconds: Callable[[Row], float]) -> float:
    """The mean over all rows, each normalised within its catalog."""
    found: list[float] = []
    for name in CATALOGS:
        some = [row for row in rows if row.catalog == name]
        found += deviations(
            [row.events / seconds(row) for row in some], [row.events / row.second.seconds for row in some]
        )
    return mean(found)


def main() -> None:
    """Measure, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of the streams' lengths")
    parser.add_argument("--queries", type=int, default=12)
    arguments = parser.parse_args()
    rows = [row for name, each in CATALOGS.items() for row in measured(name, each, arguments.scale, arguments.queries)]
    together = fit_prices([row.first for row in rows])
    others = {name: fit_prices([row.first for row in rows if row.catalog != name]) for name in CATALOGS}
    for row in rows:
        ratio = together.seconds(row.first.operations) / row.second.seconds
        print(f"{row.catalog:<12}{row.strategy:<12}{row.technique:<18}estimated / measured seconds {ratio:.2f}")
    shown: dict[str, Callable[[Row], float]] = {
        "by another measurement, the floor": lambda row: row.first.seconds,
        "by the papers' operations alone": lambda row: row.first.operations.total,
        "by prices of earlier runs": lambda row: together.seconds(row.first.operations),
        "by prices of other catalogs": lambda row: others[row.catalog].seconds(row.first.operations),
    }
    table = f"{len(TECHNIQUES)} techniques x {len(STRATEGIES)} strategies x {len(CATALOGS)} catalogs"
    print(f"\nmean deviation over {len(rows)} plans, {table}")
    for name, seconds in shown.items():
        print(f"  {name:<36}{deviation(rows, seconds):.1%}")


if __name__ == "__main__":
    main()
