"""How Heddle's CPU grows: with events, keys, queries, overlap and batches, each with the exponent that fits best.

Every point is a run in one process, its results written; the other sizes stay at the middle point: a hundred queries,
ten keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.engine_world import World, measured, middle_point, world
from benchmarks.evidence.figure import Figure, Progress, Size
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from optimizer.windows.window import Window

TITLE = "Scaling"
KEYS, QUERIES, FILES = 10, 100, 100


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return a figure for every size that may grow."""
    events = size.of(20_000, 1_000_000, 10_000_000)
    grown = size.of((1, 2), (1, 3, 10, 30), (1, 3, 10, 30))
    keys = size.of((1, 10), (1, 10, 100, 1_000, 10_000), (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000))
    queries = size.of((1, 10), (1, 10, 100, 1_000), (1, 10, 100, 1_000, 10_000, 100_000))
    overlaps = size.of((1, 10), (1, 10, 100, 1_000, 5_000), (1, 10, 100, 1_000, 10_000, 100_000))
    batches = size.of((1, 4), (1, 4, 20, 100), (1, 4, 20, 100))
    slow = [window for window in middle_point() if window.slide >= 100][:10]
    middle = middle_point(QUERIES)

    def cpu(name: str, value: int, *place: object, files_per_batch: int = 0) -> tuple[float, float]:
        progress(f"{name}: {value:,}")
        count, groups, windows = place
        with world(int(count), int(groups), list(windows), FILES) as here:  # type: ignore[call-overload]
            return value, _cpu_seconds(here, files_per_batch)

    return [
        _figure("events", [cpu("events", n * events // 10, n * events // 10, KEYS, middle) for n in grown]),
        _figure("keys", [cpu("keys", n, events, n, slow) for n in keys]),
        _figure("queries", [cpu("queries", n, events, KEYS, middle_point(n)) for n in queries]),
        _figure("overlap", [cpu("overlap", n, events, KEYS, [Window(n, 1)] * 2) for n in overlaps]),
        _figure("batches", [cpu("batches", n, events, KEYS, middle, files_per_batch=FILES // n) for n in batches]),
    ]


def _cpu_seconds(here: World, files_per_batch: int) -> float:
    options = Options(buckets=2, files_per_batch=files_per_batch)
    runs = iter(range(1_000))

    def run() -> object:
        return evaluate_local(here.catalog, here.plan, str(here.root / "warehouses" / str(next(runs))), options)

    return measured(run, times=2, warm=1, clear=here.clear)[0]


def _figure(name: str, line: Sequence[tuple[float, float]]) -> Figure:
    """Return a line with the exponent that fits it."""
    note = f"CPU seconds grow with the {name} to the power of {exponent(line):.2f}."
    title = f"CPU seconds by {name}"
    return Figure(f"scaling-{name}", title, name, "CPU seconds", {"Heddle": list(line)}, note=note)


def exponent(line: Iterable[tuple[float, float]]) -> float:
    """Return the slope of a line between logarithms: 1 where twice as much costs twice as much.

    >>> round(exponent([(1, 3.0), (10, 30.0), (100, 300.0)]), 6)
    1.0
    """
    x, y = np.log(np.array(list(line), dtype=float)).T
    return float(np.polyfit(x, y, 1)[0])
