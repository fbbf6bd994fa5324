"""Incremental evaluation (TKDE 2022), experiments 6 and 7: estimated against actual throughput of plans.

One plan by WeaveShare and one by TriWeave for every technique, at the middle point of the paper's parameters with
overlap factors up to 100, run by the engine without Spark. The paper inverts a plan's cost to an estimated throughput
and equates the largest readings of both scales; so does this. Beside it stand seconds as they are: the estimate by the
prices of this machine, nothing equated.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from benchmarks.engine_world import write_events, write_queries
from benchmarks.estimates import SELECTS, least_seconds
from benchmarks.evidence.figure import Figure, Points, Progress, Reading, Size
from benchmarks.papers.plans import TECHNIQUES
from jobs.measure.machine_prices import load_prices, save_prices
from jobs.measure.stream import measure_stream
from jobs.runs.calibrate import calibrate
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from optimizer.algebra.techniques import CARDS
from optimizer.plan.prices import Prices, operations_for
from optimizer.planning.stream import plan_stream
from optimizer.workloads.generators import factors

TITLE = "Estimated against actual throughput (TKDE 2022)"
STRATEGIES = {
    "WeaveShare": ("weave_share", 22, "deviation_weave_share"),
    "TriWeave": ("tri_weave", 23, "deviation_tri_weave"),
}
RATE = 1  # events a second, the paper's lambda
OVERLAP = 100
NOTE = (
    "Throughput is 1 / operations that are estimated, and 1 / CPU seconds that were measured, each as a share of its "
    "largest, as the paper does. Overlap factors are up to {}, so that windows fill; the paper's are up to 10,000. "
    "Nanoseconds of the run for every operation that is estimated: {}."
)
BOTH_NEED = ("sum(value)", "max(value)")


@dataclass(frozen=True)
class Row:
    """One plan: what it should take by operations and by prices, and the CPU seconds that it took."""

    technique: str
    operations: float
    estimate: float
    seconds: float


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return figures 22 and 23, normalised, and both in seconds."""
    prices = load_prices()
    if prices is None:
        progress("the machine is calibrated first")
        prices = calibrate(progress)
        save_prices(prices)
    events, queries = size.of(5_000, 500_000, 2_000_000), size.of(10, 100, 100)
    figures: list[Figure] = []
    rows: dict[str, list[Row]] = {}
    for label, (strategy, number, claim) in STRATEGIES.items():
        rows[label] = run_plans(
            strategy, events, queries, size.of(1, 3, 5), prices, lambda name, label=label: progress(f"{label}, {name}")
        )
        figures.append(normalised_figure(label, number, claim, rows[label]))
    every = [row for some in rows.values() for row in some]
    both = mean(apart for some in rows.values() for apart in deviations(some))
    figures[-1].readings.append(Reading("deviation_both", both, lengths_of(every)))
    return [*figures, seconds_figure(rows)]


def run_plans(strategy: str, events: int, queries: int, times: int, prices: Prices, progress: Progress) -> list[Row]:
    """Return a row for every technique: the least of some runs of its plan, every step by itself."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_events(root / "data", events, 1, rate=RATE)
        windows = list(factors(queries, seed=1, s_max=1_000, o_max=OVERLAP).windows())
        for name, technique in TECHNIQUES.items():
            progress(name)
            selects = SELECTS.get(CARDS[technique].needs, BOTH_NEED)
            catalog = write_queries(root / technique, windows, False, selects)
            known = measure_stream(catalog, "events")
            plan = plan_stream(catalog, "events", known.rate, strategy, technique, recent=known.recent)
            reports = []
            for _ in range(times + 1):  # the first one warms up
                shutil.rmtree(root / "out", ignore_errors=True)
                reports.append(evaluate_local(catalog, plan, str(root / "out"), Options(buckets=1)))
            operations = operations_for(plan, events)
            rows.append(Row(name, operations.total, prices.seconds(operations), least_seconds(reports[1:])))
    return rows


def equate_largest(values: Sequence[float]) -> list[float]:
    """Return values as shares of the largest, the paper's way to bring two scales together.

    >>> equate_largest([1.0, 4.0])
    [0.25, 1.0]
    """
    largest = max(values)
    return [value / largest for value in values]


def deviations(rows: Sequence[Row]) -> list[float]:
    """Return how far every estimated throughput is from the actual one, both as shares of their largest."""
    estimated = equate_largest([1 / row.operations for row in rows])
    actual = equate_largest([1 / row.seconds for row in rows])
    return [abs(guess - real) / real for guess, real in zip(estimated, actual, strict=True)]


def lengths_of(rows: Sequence[Row]) -> str:
    """Return how long an operation takes by the technique whose readings are equated, and by the others.

    >>> lengths_of([Row("A", 100.0, 1.0, 1e-5), Row("B", 10.0, 1.0, 4e-6), Row("C", 10.0, 1.0, 9e-6)])
    'an operation takes 400 ns by B, whose readings are equated, but 100 (A) to 900 (C) by the others'
    """
    lengths = {row.technique: 1e9 * row.seconds / row.operations for row in rows}
    equated = min(rows, key=lambda row: row.operations).technique
    others = sorted((length, name) for name, length in lengths.items() if name != equated)
    (least, first), (most, last) = others[0], others[-1]
    return (
        f"an operation takes {lengths[equated]:.0f} ns by {equated}, whose readings are equated, "
        f"but {least:.0f} ({first}) to {most:.0f} ({last}) by the others"
    )


def normalised_figure(label: str, number: int, claim: str, rows: Sequence[Row]) -> Figure:
    """Return figure 22 or 23: throughput by technique, every scale's largest reading equated."""
    scales = {
        "estimated: 1 / operations": [1 / row.operations for row in rows],
        "estimated: 1 / seconds by prices": [1 / row.estimate for row in rows],
        "actual": [1 / row.seconds for row in rows],
    }
    points: Points = {name: _places(equate_largest(values)) for name, values in scales.items()}
    spent = ", ".join(f"{row.technique} {1e9 * row.seconds / row.operations:.0f}" for row in rows)
    return Figure(
        f"tkde-{number}",
        f"Figure {number}: estimated and actual throughput, {label}",
        "technique",
        "throughput / largest",
        points,
        [Reading(claim, mean(deviations(rows)), lengths_of(rows))],
        log_y=False,
        note=NOTE.format(OVERLAP, spent),
        labels=[row.technique for row in rows],
    )


def seconds_figure(rows: dict[str, list[Row]]) -> Figure:
    """Return seconds estimated by prices and seconds measured, nothing equated."""
    every = [(label, row) for label, some in rows.items() for row in some]
    points: Points = {
        "estimated": _places([row.estimate for _, row in every]),
        "measured": _places([row.seconds for _, row in every]),
    }
    apart = [abs(row.estimate / row.seconds - 1) for _, row in every]
    note = f"By the machine's prices, estimates are {mean(apart):.0%} off on average, {max(apart):.0%} at worst."
    title = "Experiments 6 and 7 in seconds: nothing normalised"
    labels = [f"{label}, {row.technique}" for label, row in every]
    return Figure("tkde-seconds", title, "plan", "CPU seconds", points, note=note, log_y=False, labels=labels)


def _places(values: Sequence[float]) -> list[tuple[float, float]]:
    return [(float(number), value) for number, value in enumerate(values)]
