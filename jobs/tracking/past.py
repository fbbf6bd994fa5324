"""What runs have left behind, read back for pages, and the prices they tell.

past_runs(store, "sensors")              # Past: operations, seconds and throughput of evaluations, newest first
run_rows(store, "sensors", "replan")     # any kind of run as plain dicts: params, metrics, tags, times
prices(store, "sensors")                 # Prices, seconds per operation, or None before the first evaluation

A stream's own runs tell its prices. While they are few, they cannot tell what a run, a batch and a tree take by
themselves from what events take; the runs of other streams can.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jobs.host.machine import machine_fingerprint
from jobs.tracking.store import MACHINE, Store
from optimizer.plan.prices import Measured, Operations, Prices, fit_prices

if TYPE_CHECKING:
    from mlflow.entities import Run


DONE = "heddle.done"  # a tag: what a run had to do and what that took, which prices are fitted from
FINALS, HANDLED = "final_operations.", "handled."  # metrics of runs that have no such tag
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
    machine: str = ""  # its fingerprint

    @property
    def throughput(self) -> float:
        """Events per second of work."""
        return self.events / self.measured.seconds


def past_runs(store: Store, stream: str, most: int = MOST) -> list[Past]:
    """Return evaluations that folded events, the newest first."""
    runs = [run for kind in KINDS for run in store.runs(stream, kind, "status = 'FINISHED'", most)]
    runs.sort(key=lambda run: -run.info.start_time)
    return [past for run in runs[:most] if (past := _past(run))]


def past_elsewhere(store: Store, stream: str, machine: str, most: int) -> list[Past]:
    """Return the newest evaluations of other streams that folded events on a machine."""
    condition = f"status = 'FINISHED' and tags.`{MACHINE}` = '{machine}'"
    return [past for run in store.runs_elsewhere(stream, KINDS[0], condition, most) if (past := _past(run))]


def run_rows(store: Store, stream: str, kind: str, most: int = MOST) -> list[dict[str, Any]]:
    """Return runs of a kind, the newest first: id, name, status, times in milliseconds, params, metrics, tags."""
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


def done_tag(measured: Measured) -> dict[str, str]:
    """Return the tag that a run's operations and seconds are read back from.

    >>> done_tag(Measured(Operations(2.0, {"panes": 1 / 3}), 0.5))["heddle.done"][:45]
    '{"partials":2,"finals":{"panes":0.333333},"ha'
    """
    operations = measured.operations
    document = {
        "partials": _short(operations.partials),
        "finals": {name: _short(count) for name, count in operations.finals.items()},
        "handled": {name: _short(count) for name, count in operations.handled.items()},
        "trees": operations.trees,
        "roots": operations.roots,
        "seconds": _short(measured.seconds),
        "batches": _short(measured.batches),
    }
    return {DONE: json.dumps(document, separators=(",", ":"))}


def _short(value: float) -> float:
    """Return a number in six digits: a tag holds 8,000 characters."""
    short = float(f"{value:.6g}")
    return int(short) if short.is_integer() else short


def _past(run: Run) -> Past | None:
    metrics, params, tags = run.data.metrics, run.data.params, run.data.tags
    events = int(metrics.get("events", 0))
    measured = _measured(json.loads(tags[DONE])) if DONE in tags else _measured_before(metrics)
    if not (measured.seconds > 0 and events and measured.operations.total > 0):
        return None
    return Past(
        run.info.run_id,
        params.get("strategy", ""),
        params.get("technique", ""),
        events,
        params.get("lane", ""),
        measured,
        tags.get(MACHINE, ""),
    )


def _measured(document: Mapping[str, Any]) -> Measured:
    names = ("partials", "finals", "handled", "trees", "roots")
    return Measured(Operations(*(document[name] for name in names)), document["seconds"], document["batches"])


def _measured_before(metrics: Mapping[str, float]) -> Measured:
    """Return what a run of an older version had to do: it has a metric for every count."""
    operations = Operations(
        metrics.get("partial_operations", 0.0),
        _metrics_below(FINALS, metrics),
        _metrics_below(HANDLED, metrics),
        int(metrics.get("trees", 0)),
        int(metrics.get("roots", 0)),
    )
    return Measured(operations, metrics.get("engine_seconds", 0.0), metrics.get("batches", 1.0))


def _metrics_below(prefix: str, metrics: Mapping[str, float]) -> dict[str, float]:
    return {name.removeprefix(prefix): value for name, value in metrics.items() if name.startswith(prefix)}


ENOUGH = 8  # runs of a stream: about as many as there are prices


def prices(store: Store, stream: str) -> Prices | None:
    """Return the seconds that operations have taken so far; None before the first evaluation."""
    own = past_runs(store, stream)
    return prices_of(runs_to_price_by(store, stream, own, own[0].machine if own else machine_fingerprint()))


def runs_to_price_by(store: Store, stream: str, own: Sequence[Past], machine: str) -> list[Past]:
    """Return the runs of a machine that tell a stream's prices: its own, and while those are few, the newest of others.

    Another machine's runs never do: they would tell its prices.
    """
    here = [run for run in own if run.machine == machine]
    return here if len(here) >= ENOUGH else [*here, *past_elsewhere(store, stream, machine, ENOUGH)]


def prices_of(past: Sequence[Past]) -> Prices | None:
    """Return the seconds that operations took in some runs; None of no runs."""
    return fit_prices([run.measured for run in past]) if past else None
