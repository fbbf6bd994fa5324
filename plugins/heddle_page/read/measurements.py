"""Estimated against measured: the last evaluations, each with its two normalised throughputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from plugins.heddle_page.read.links import run_link


@dataclass(frozen=True)
class Measurement:
    """One evaluation. A run without events has nothing to compare."""

    at: datetime
    strategy: str
    technique: str
    version: int
    events: int
    events_per_second: float
    seconds: float
    estimated: float | None  # as a multiple of the mean of the runs that were compared
    measured: float | None
    deviation: float | None
    late: int
    link: str


def measurements(rows: Sequence[dict[str, Any]]) -> list[Measurement]:
    """Return the finished evaluations as the page shows them, the newest first."""
    return [_measurement(row) for row in rows if row["status"] == "FINISHED"]


def mean_deviation(measurements: Sequence[Measurement]) -> float | None:
    """Return the mean deviation of the runs that have one."""
    deviations = [run.deviation for run in measurements if run.deviation is not None]
    return sum(deviations) / len(deviations) if deviations else None


def _measurement(row: dict[str, Any]) -> Measurement:
    metrics, params = row["metrics"], row["params"]
    return Measurement(
        datetime.fromtimestamp(row["started"] / 1000, UTC),
        params.get("strategy", ""),
        params.get("technique", ""),
        int(params.get("plan_version") or 0),
        int(metrics.get("events", 0)),
        metrics.get("events_per_second", 0.0),
        metrics.get("wall_seconds", 0.0),
        metrics.get("estimated_normalised"),
        metrics.get("measured_normalised"),
        metrics.get("deviation"),
        int(metrics.get("late", 0)),
        run_link(str(row["experiment"]), row["run"]),
    )
