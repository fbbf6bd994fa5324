"""How far estimated CPU seconds are from measured: techniques x strategies x streams, by the engine without Spark.

    python -m benchmarks.estimates [--quick]

Prices are those of `heddle calibrate`, whose trials have none of these catalogs and streams; its rounds are run in
between, since a machine that shares its processor may be half as fast some minutes later. A measurement is the least of
some runs of a plan from scratch, every step by itself. Printed per plan: estimate and measurement in seconds, not
normalised. Bounds: 10% apart on average, 25% at worst. Beside it stands what the papers print: throughput normalised
over a catalog, by seconds and by the papers' operations alone. The floor is how far two measurements of the same plan
are apart.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmarks.engine_world import BOTH, write_events, write_queries
from benchmarks.verdict import Bound, print_verdict
from jobs.measure.stream import measure_stream
from jobs.runs.calibrate import open_trials
from jobs.runs.in_process import evaluate_local
from jobs.runs.report import RunReport
from jobs.runs.request import Options
from optimizer.algebra.techniques import CARDS
from optimizer.plan.prices import Operations, Prices, operations_for
from optimizer.planning.stream import plan_stream
from optimizer.workloads import workload

TECHNIQUES = ("panes", "flat_fat", "flat_fit", "daba", "slick_deque_inv", "slick_deque_noninv", "two_stacks_block")
STRATEGIES = ("shared", "tri_weave", "no_share")
SELECTS = {"invertible": BOTH[:1], "selective": BOTH[1:]}
REPEATS = 3


@dataclass(frozen=True)
class Setting:
    """A workload, and the stream that it runs on."""

    options: dict[str, int]
    rate: int  # events a second, over all keys
    keys: int
    seconds: int


CATALOGS = {
    "factors": Setting({"s_max": 20, "o_max": 40}, 20, 1, 50_000),
    "trades_a": Setting({}, 50, 5, 20_000),
    "zipf_slides": Setting({"s_max": 16, "o_max": 20}, 10, 1, 40_000),
}


@dataclass(frozen=True)
class Row:
    """One plan: what it should take by operations and by prices, and the seconds of two separate measurements."""

    catalog: str
    technique: str
    strategy: str
    events: int
    operations: Operations
    first: float
    second: float

    def deviation(self, prices: Prices) -> float:
        """How far the estimate is from the measurement."""
        return prices.seconds(self.operations) / min(self.first, self.second) - 1


def least_seconds(reports: Sequence[RunReport]) -> float:
    """Return the CPU seconds of a run, the least of every step."""
    return sum(min(report.step_seconds.get(step, 0.0) for report in reports) for step in reports[0].step_seconds)


def measured(name: str, setting: Setting, scale: float, queries: int) -> Iterator[Row]:
    """Yield every technique and strategy on one catalog."""
    events = int(setting.rate * setting.seconds * scale)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_events(root / "data", events, setting.keys, rate=setting.rate)
        windows = sorted(set(workload(name, queries, seed=3, **setting.options).windows()))
        for technique in TECHNIQUES:
            selects = SELECTS.get(CARDS[technique].needs, BOTH)
            catalog = write_queries(root / f"catalog_{technique}", windows, setting.keys > 1, selects)
            known = measure_stream(catalog, "events")
            for strategy in STRATEGIES:
                plan = plan_stream(
                    catalog, "events", known.rate, strategy, technique, known.planned_keys, recent=known.recent
                )
                reports = []
                for _ in range(2 * REPEATS + 1):
                    shutil.rmtree(root / "out", ignore_errors=True)
                    reports.append(evaluate_local(catalog, plan, str(root / "out"), Options(buckets=1)))
                operations = operations_for(plan, events)
                first, second = least_seconds(reports[1::2]), least_seconds(reports[2::2])
                yield Row(name, technique, strategy, events, operations, first, second)


def shares(values: Sequence[float]) -> list[float]:
    """Return every value as a multiple of the mean of all."""
    return [value / fmean(values) for value in values]


def deviations(estimated: Sequence[float], measured: Sequence[float]) -> list[float]:
    """Return how far every estimate is off, as a share of its measurement."""
    return [abs(estimate / share - 1) for estimate, share in zip(shares(estimated), shares(measured), strict=True)]


def normalised(rows: Sequence[Row], seconds: Callable[[Row], float]) -> float:
    """Return the mean deviation over all rows, each normalised within its catalog."""
    apart: list[float] = []
    for name in CATALOGS:
        some = [row for row in rows if row.catalog == name]
        apart += deviations([row.events / seconds(row) for row in some], [row.events / row.second for row in some])
    return fmean(apart)


def main() -> None:
    """Measure, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="of the streams' lengths")
    parser.add_argument("--quick", action="store_true", help="streams of a fifth of their length: two minutes")
    parser.add_argument("--queries", type=int, default=12)
    arguments = parser.parse_args()
    rows: list[Row] = []
    with open_trials() as calibration:
        calibration.run_once()
        for name, setting in CATALOGS.items():
            calibration.run_once()
            rows += measured(name, setting, 0.2 if arguments.quick else arguments.scale, arguments.queries)
        prices = calibration.fit()
    for row in rows:
        print(
            f"{row.catalog:<12}{row.strategy:<11}{row.technique:<20}"
            f"{prices.seconds(row.operations):8.4f} /{min(row.first, row.second):8.4f} s {row.deviation(prices):+7.1%}",
            flush=True,
        )
    apart = [abs(row.deviation(prices)) for row in rows]
    shown: dict[str, Callable[[Row], float]] = {
        "by another measurement, the floor": lambda row: row.first,
        "by the papers' operations alone": lambda row: row.operations.total,
        "by the machine's prices": lambda row: prices.seconds(row.operations),
    }
    print("\nthroughput normalised over a catalog, as in the papers, mean deviation")
    for text, seconds in shown.items():
        print(f"  {text:<36}{normalised(rows, seconds):.1%}")
    print_verdict(
        [
            Bound(f"mean deviation of {len(rows)} plans, in seconds", fmean(apart), 0.10, ".1%"),
            Bound("worst deviation", max(apart), 0.25, ".1%"),
        ]
    )


if __name__ == "__main__":
    main()
