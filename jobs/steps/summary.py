"""What a platform has done so far, a line per stream: from what its tracking store remembers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jobs.host.settings import Settings
from jobs.tracking.past import run_rows
from jobs.tracking.registry import champion
from jobs.tracking.store import Store, open_store


def summaries(place: Settings, streams: Sequence[str]) -> list[str]:
    """Return a line per stream: queries, trees, cost saved, events per second, audits, deviation."""
    store = open_store(place)
    return [_line(store, stream) for stream in streams]


def _line(store: Store, stream: str) -> str:
    version, runs = champion(store, stream), run_rows(store, stream, "evaluation")
    if version is None or not runs:
        return f"{stream}: not evaluated yet"
    metrics = [row["metrics"] for row in runs]
    passed = sum(run.get("audit.passed", 0) > 0 for run in metrics)
    speed = sum(run["events"] for run in metrics) / sum(run["wall_seconds"] for run in metrics)
    return (
        f"{stream}: {version.queries} queries in {version.trees} trees, "
        f"{version.saving:z.1%} of the no_share cost saved; "
        f"{_total(metrics, 'events'):,.0f} events, {_total(metrics, 'results'):,.0f} results, {speed:,.0f} events/s; "
        f"{passed} of {len(metrics)} audits passed; {deviation_text(metrics[0])}"
    )


def _total(metrics: list[dict[str, Any]], name: str) -> float:
    return float(sum(run[name] for run in metrics))


def deviation_text(metrics: dict[str, Any]) -> str:
    """Say how far a run was from its estimate."""
    if "deviation" not in metrics:
        return "deviation of the estimates known from the second run on"
    return f"estimated and measured throughput {metrics['deviation']:.1%} apart"
