"""What runs have left behind, read back for pages and for calibration.

past_runs(store, "sensors")              # Past: operations, seconds and throughput of evaluations, newest first
run_rows(store, "sensors", "replan")     # any kind of run as plain dicts: params, metrics, tags, times
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jobs.tracking.store import Store
from optimizer.plan.operations import Operations
from optimizer.plan.prices import Measured

if TYPE_CHECKING:
    from mlflow.entities import Run

FINALS, HANDLED = "final_operations.", "handled."  # metrics, one per technique; of slices and answers
KINDS = ("evaluation", "comparison_run")
MOST = 200


@dataclass(frozen=True)
class Past:
    """An evaluation as calibration and charts see it."""

    run: str
    strategy: str
    technique: str
    events: int
    lane: str
    measured: Measured

    @property
    def throughput(self) -> float:
        """Events per second of work."""
        return self.events / self.measured.seconds


def past_runs(store: Store, stream: str, most: int = MOST) -> list[Past]:
    """Evaluations that folded events, the newest first."""
    found = [run for kind in KINDS for run in store.runs(stream, kind, "status = 'FINISHED'", most)]
    found.sort(key=lambda run: -run.info.start_time)
    return [past for run in found[:most] if (past := _past(run))]


def past_elsewhere(store: Store, stream: str, most: int) -> list[Past]:
    """The newest evaluations of other streams that folded events."""
    return [past for run in store.runs_elsewhere(stream, KINDS[0], "status = 'FINISHED'", most) if (past := _past(run))]


def run_rows(store: Store, stream: str, kind: str, most: int = MOST) -> list[dict[str, Any]]:
    """Runs of a kind, the newest first: id, name, status, times in milliseconds, params, metrics, tags."""
    return [
        {
            "run": run.info.run_id,
            "experiment": run.info.experiment_id,
            "name": run.info.run_name,
            "status": run.info.status,
            "started": run.info.start_time,
            "ended": run.info.end_time,
            "params": dict(run.data.params),
            "metrics": dict(run.data.metrics),
            "tags": dict(run.data.tags),
        }
        for run in store.runs(stream, kind, most=most)
    ]


def _past(run: Run) -> Past | None:
    metrics, params = run.data.metrics, run.data.params
    seconds, events = metrics.get("engine_seconds", 0.0), int(metrics.get("events", 0))
    operations = Operations(
        metrics.get("partial_operations", 0.0),
        _below(FINALS, metrics),
        _below(HANDLED, metrics),
        int(metrics.get("trees", 0)),
    )
    if not (seconds > 0 and events and operations.total > 0):
        return None
    measured = Measured(operations, seconds, metrics.get("batches", 1.0))
    return Past(
        run.info.run_id,
        params.get("strategy", ""),
        params.get("technique", ""),
        events,
        params.get("lane", ""),
        measured,
    )


def _below(prefix: str, metrics: Mapping[str, float]) -> dict[str, float]:
    return {name.removeprefix(prefix): value for name, value in metrics.items() if name.startswith(prefix)}
