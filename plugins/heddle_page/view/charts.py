"""The two charts, as places for their marks: savings over the versions, and estimated beside measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plugins.heddle_page.read.history import Measurement, PlanVersion

WIDTH, HEIGHT = 640, 150
LEFT, TOP = 44, 12
NAME = 32  # pixels of a version's name
BAR, BARS = 12, 12  # pixels of a bar; runs that are drawn


@dataclass(frozen=True)
class Point:
    """A version in the chart of savings."""

    x: float
    y: float
    planned: PlanVersion
    label: str  # "" where names would run into each other


@dataclass(frozen=True)
class SavingChart:
    """Points from the oldest to the newest, the line through them, and the grid's shares of the height."""

    points: list[Point]
    line: str
    grid: list[tuple[float, str]]


@dataclass(frozen=True)
class Pair:
    """A run's two bars."""

    y: int
    estimated: float
    measured: float
    run: Measurement


@dataclass(frozen=True)
class DeviationChart:
    """Bars of the last runs, the newest on top."""

    pairs: list[Pair]
    height: int


def saving_chart(history: Sequence[PlanVersion]) -> SavingChart:
    """Place the savings of every version against no_share; the scale is whole per cent, from 0 or the worst to 100."""
    ordered = list(reversed(history))
    floor = min([0.0, *(version.saving for version in ordered)])
    step = (WIDTH - LEFT - 24) / max(len(ordered) - 1, 1)

    def height(saving: float) -> float:
        return round(TOP + (HEIGHT - 2 * TOP) * (1 - saving) / (1 - floor), 1)

    stride = -(-NAME // max(int(step), 1))  # versions from one name to the next
    points = [
        Point(
            round(LEFT + 12 + i * step, 1), height(version.saving), version, "" if i % stride else f"v{version.number}"
        )
        for i, version in enumerate(ordered)
    ]
    line = " ".join(f"{point.x},{point.y}" for point in points)
    return SavingChart(points, line, [(height(share), f"{share:.0%}") for share in (0.0, 0.5, 1.0)])


def deviation_chart(runs: Sequence[Measurement]) -> DeviationChart:
    """Place both throughputs of every run, as shares of the longest bar."""
    compared = [run for run in runs if run.deviation is not None][:BARS]  # others have no estimate to show
    longest = max([max(run.estimated or 0.0, run.measured or 0.0) for run in compared], default=1.0) or 1.0
    width = WIDTH - 200
    pairs = [
        Pair(
            i * (2 * BAR + 14),
            (run.estimated or 0) / longest * width,
            (run.measured or 0) / longest * width,
            run,
        )
        for i, run in enumerate(compared)
    ]
    return DeviationChart(pairs, len(pairs) * (2 * BAR + 14))
