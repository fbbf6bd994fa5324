"""How far estimated throughput is from measured: techniques x strategies x catalogs, by the engine without Spark.

    python -m benchmarks.estimates [--events 200000] [--queries 12]

Seconds are those of feeding trees and answering windows, the least of some runs. Estimates come three ways: by the
papers' operations alone; in seconds, with prices fitted from other runs of the same plans; and in seconds, with prices
fitted from the other catalogs only. Every series is normalised by its mean over a catalog, as in the papers.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.engine_world import write_events, write_queries
from jobs.engine.batch import close, run_batch
from jobs.engine.compile import compile_program
from jobs.engine.in_process import in_process
from jobs.engine.manifest import Manifest
from jobs.engine.source import splits_of
from jobs.engine.storage import Storage
from jobs.lanes import file_types
from jobs.tracking.deviation import deviations, mean
from jobs.tracking.evaluations import WORK
from optimizer.catalog import Catalog
from optimizer.cost.prices import Measured, fit_prices
from optimizer.plan import Plan
from optimizer.plan_operations import operations_for
from optimizer.stream_planning import plan_stream
from optimizer.workloads import workload

RATE = 200  # events a second
TECHNIQUES = ("panes", "flat_fat", "b_int", "flat_fit", "two_stacks", "daba", "two_stacks_block")
STRATEGIES = ("no_share", "weave_share", "shared")
CATALOGS = {
    "factors": {"s_max": 20, "o_max": 40},
    "trades_a": {"s_max": 30, "o_max": 10},
    "zipf_slides": {"s_max": 16, "o_max": 20},
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
    files = [(str(path), path.stat().st_size) for path in sorted(data.glob("*.parquet"))]
    program = compile_program(catalog, plan, file_types(catalog, plan, files[0][0]))
    splits = [split for heap in splits_of(files, 1) for split in heap]
    storage = Storage(str(warehouse))
    batch = run_batch(storage, Manifest(buckets=1), program, 0, in_process(splits))
    end = close(storage, batch, program, in_process([]))
    return sum(found.counts["seconds"].get(step, 0.0) for found in (batch, end) for step in WORK)


def measured(name: str, options: dict[str, int], events: int, queries: int) -> Iterator[Row]:
    """Every technique and strategy on one catalog."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_events(root / "data", events, 1, rate=RATE)
        windows = sorted(set(workload(name, queries, seed=3, **options).windows()))
        catalog = write_queries(root / "catalog", windows, False)
        for strategy in STRATEGIES:
            for technique in TECHNIQUES:
                plan = plan_stream(catalog, "events", RATE, strategy, technique)
                runs = [seconds_of(catalog, plan, root / "data", root / "out") for _ in range(2 * REPEATS)]
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
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=12)
    arguments = parser.parse_args()
    rows = [row for name, o in CATALOGS.items() for row in measured(name, o, arguments.events, arguments.queries)]
    together = fit_prices([row.first for row in rows])
    others = {name: fit_prices([row.first for row in rows if row.catalog != name]) for name in CATALOGS}
    for row in rows:
        ratio = together.seconds(row.first.operations) / row.second.seconds
        print(f"{row.catalog:<12}{row.strategy:<12}{row.technique:<18}estimated / measured seconds {ratio:.2f}")
    shown: dict[str, Callable[[Row], float]] = {
        "by the papers' operations alone": lambda row: row.first.operations.total,
        "by prices of earlier runs": lambda row: together.seconds(row.first.operations),
        "by prices of other catalogs": lambda row: others[row.catalog].seconds(row.first.operations),
    }
    print(f"\nmean deviation over {len(rows)} plans: {len(TECHNIQUES)} techniques x {len(STRATEGIES)} strategies")
    for name, seconds in shown.items():
        print(f"  {name:<34}{deviation(rows, seconds):.1%}")


if __name__ == "__main__":
    main()
