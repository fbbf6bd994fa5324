"""What the tracking store remembers of a stream: registered plans, and the runs that made and evaluated them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jobs.host.settings import Settings
from jobs.tracking.past import run_rows
from jobs.tracking.registry import Version, champion, history, plan_of
from jobs.tracking.store import Store, open_store
from optimizer.errors import HeddleError, UnreachableError
from optimizer.plan.definition import Plan

LISTED = 60  # versions that the history shows
EVALUATIONS = 20
KEPT = 16
PLANS: dict[str, Plan] = {}  # the last that were read, by their run
PATIENCE = 2  # seconds that a page waits for MLflow, not the minutes that a job would
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", str(PATIENCE))


@dataclass(frozen=True)
class PlanVersion:
    """A registered plan, in the figures that its version carries."""

    number: int
    at: datetime
    strategy: str
    technique: str
    queries: int
    trees: int
    cost: float
    no_share_cost: float
    saving: float
    champion: bool
    promoted: bool  # whether it has ever been in force
    run: str
    link: str  # to MLflow's page of the run; "" when nobody said where that is
    reason: str = ""  # why it was promoted, or why the champion was kept


@dataclass
class TrackedPlans:
    """The registered plans of a stream and its evaluations; empty where nothing is tracked."""

    history: list[PlanVersion] = field(default_factory=list)
    version: PlanVersion | None = None
    plan: Plan | None = None
    before: Plan | None = None  # the one that was in force before it
    replaced: int = 0  # its version
    evaluations: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_tracked_plans(settings: Settings, stream: str, version: int | None = None) -> TrackedPlans:
    """Read the champion, or the version of a number, with the history around it. Reading creates nothing."""
    try:
        store = existing_store(settings)
        return _read(store, stream, version) if store and experiment_id(store, stream) else TrackedPlans()
    except UnreachableError as error:
        return TrackedPlans(notes=[str(error)])
    except Exception as error:  # whatever MLflow's client meets, the warehouse's part of the page is still good
        return TrackedPlans(notes=[f"MLflow at {settings.tracking} cannot be read: {_first_line(error)}"])


def existing_store(settings: Settings) -> Store | None:
    """Return the tracking store; None when it would have to be made first."""
    file = settings.tracking.removeprefix("sqlite:///")
    if file != settings.tracking and not Path(file).exists():
        return None
    return _open(settings)


def experiment_id(store: Store, stream: str) -> str:
    """Return the id of the stream's experiment; "" when it has none."""
    experiment = store.client.get_experiment_by_name(f"heddle/{stream}")
    return str(experiment.experiment_id) if experiment else ""


@lru_cache(maxsize=2)
def _open(settings: Settings) -> Store:
    return open_store(settings, PATIENCE)


def _read(store: Store, stream: str, number: int | None) -> TrackedPlans:
    versions = history(store, stream)
    version = champion(store, stream) if number is None else next((v for v in versions if v.number == number), None)
    experiment = experiment_id(store, stream)
    reasons = {row["run"]: row["tags"].get("reason", "") for row in run_rows(store, stream, "replan", LISTED)}
    plans = TrackedPlans(
        [_plan_version(listed, experiment, reasons) for listed in versions[:LISTED]],
        _plan_version(version, experiment, reasons) if version else None,
        evaluations=run_rows(store, stream, "evaluation", EVALUATIONS),
    )
    if version:
        try:
            plans.plan = _plan(store, version)
            older = next((v for v in versions if v.number < version.number and v.promoted), None)
            if older:
                plans.before, plans.replaced = _plan(store, older), older.number
        except (HeddleError, OSError) as error:
            plans.notes.append(f"the plan of version {version.number} cannot be read: {_first_line(error)}")
    return plans


def _plan(store: Store, version: Version) -> Plan:
    """Read the plan of a version, once: a version never changes."""
    if version.run not in PLANS:
        PLANS[version.run] = plan_of(store, version)
        while len(PLANS) > KEPT:
            PLANS.pop(next(iter(PLANS)))
    return PLANS[version.run]


def _plan_version(version: Version, experiment: str, reasons: Mapping[str, str]) -> PlanVersion:
    return PlanVersion(
        version.number,
        version.registered,
        version.strategy,
        version.technique,
        version.queries,
        version.trees,
        version.cost,
        version.no_share_cost,
        version.saving,
        version.champion,
        bool(version.promoted),
        version.run,
        run_link(experiment, version.run),
        reasons.get(version.run, ""),
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


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
    late: int
    link: str
    estimated: float | None = None  # milliseconds of CPU in the engine's tasks, per 1,000 events, before the run
    milliseconds: float | None = None  # the same, measured

    @property
    def deviation(self) -> float | None:
        """How far the estimate is from the measurement, as a share of that."""
        return abs(self.estimated / self.milliseconds - 1) if self.estimated and self.milliseconds else None


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
        int(metrics.get("late", 0)),
        run_link(str(row["experiment"]), row["run"]),
        metrics.get("CPU_ms_estimated"),
        _milliseconds(metrics),
    )


def _milliseconds(metrics: Mapping[str, float]) -> float | None:
    """Return what a run measured, CPU milliseconds per 1,000 events; an older run has the seconds of its steps."""
    if "CPU_ms_measured" in metrics:
        return metrics["CPU_ms_measured"]
    seconds = sum(value for name, value in metrics.items() if name.startswith("seconds."))
    return seconds / metrics["events"] * 1e6 if metrics.get("events") and seconds else None


WORKFLOW = "workflowType=machine_learning"
SCHEMES = ("http://", "https://")


def mlflow_address() -> str:
    """Return MLflow's address without a slash at its end; "" when runs are in a file that nobody serves."""
    named = os.environ.get("HEDDLE_MLFLOW_UI") or os.environ.get("HEDDLE_TRACKING", "")
    return named.rstrip("/") if named.startswith(SCHEMES) else ""


def run_link(experiment: str, run: str) -> str:
    """Return the address of MLflow's page of a run; "" when nobody said where MLflow is."""
    address = mlflow_address()
    # MLflow opens its pages for language models where the address does not say what kind of work it is
    place = f"experiments/{quote(experiment, '')}/runs/{quote(run, '')}?{WORKFLOW}"
    return f"{address}/#/{place}" if address and run else ""
