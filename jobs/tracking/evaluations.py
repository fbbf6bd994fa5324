"""Evaluation runs: what was measured against what was estimated.

    run = log_evaluation(store, Evaluation(catalog, plan, report, audit=..., version=..., key=...))

Its metrics are the few that people read: CPU milliseconds per 1,000 events, estimated and measured, come first in
every list of MLflow, which sorts by name. What prices are fitted from is the tag `heddle.done`; calibration.json has
the prices that now hold, and by how much those before the run were off.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jobs.host.machine import fingerprint_of, machine_facts
from jobs.tracking.artifacts import TREES, as_page, as_parquet, query_table, tree_table
from jobs.tracking.past import (
    Past,
    done_tag,
    past_runs,
    prices_of,
    runs_to_price_by,
)
from jobs.tracking.store import Entry, Store, catalog_dataset, events_dataset
from optimizer.catalog.model.catalog import Catalog
from optimizer.plan.definition import Plan
from optimizer.plan.prices import Measured, operations_for

KIND = "evaluation"
CALIBRATION = "calibration.json"
WORK = ("feed", "finals")  # the steps that the cost model speaks of


@dataclass(frozen=True)
class Evaluation:
    """A run of the engine: its plan, its report (RunReport.to_dict), and its audit if there was one."""

    catalog: Catalog
    plan: Plan
    report: Mapping[str, Any]
    audit: Mapping[str, Any] = field(default_factory=dict)  # Verdict.to_dict
    version: int = 0  # of the plan in the registry
    technique: str = ""  # as it was asked for; the plan's own when left out
    key: str = ""
    kind: str = KIND
    regret: float | None = None  # how many times the seconds of the fastest plan it took, where plans are compared


def log_evaluation(store: Store, evaluation: Evaluation, parent: str = "") -> str:
    """Write a run with its artifacts, and the calibration that now holds; a key is logged once."""
    stream = evaluation.plan.stream
    logged = store.find(stream, evaluation.kind, evaluation.key) if evaluation.key else None
    if logged:
        return logged
    past = past_runs(store, stream)
    priced_by = runs_to_price_by(store, stream, past, fingerprint_of(_machine(evaluation.report)))
    run = store.begin(_entry(evaluation), parent)
    store.inputs(
        run,
        [events_dataset(evaluation.catalog, stream, evaluation.report), catalog_dataset(evaluation.catalog, stream)],
    )
    if len(evaluation.report.get("batch_seconds", ())) > 1:
        store.series(run, "seconds_of_batch", evaluation.report["batch_seconds"])
    trees = tree_table(evaluation.plan, evaluation.report["trees"])
    files: dict[str, str | bytes] = {
        "queries.parquet": as_parquet(query_table(evaluation.catalog, evaluation.plan)),
        "trees.parquet": as_parquet(trees),
        TREES: as_page(trees),
    }
    own = past_of(run, evaluation)
    if own:
        files[CALIBRATION] = json.dumps(_calibration(own, priced_by), indent=1)
    store.files(run, files)
    store.end(run, at=evaluation.report.get("ended", 0.0))
    return run


def past_of(run: str, evaluation: Evaluation) -> Past | None:
    """Return the run as calibration sees it; None when it brought no events."""
    report, plan = evaluation.report, evaluation.plan
    seconds = engine_seconds(report)
    if not report["events"] or seconds <= 0:
        return None
    measured = Measured(operations_for(plan, report["events"]), seconds, max(report["batches"], 1))
    machine = fingerprint_of(_machine(report))
    return Past(run, plan.strategy, _technique(evaluation), report["events"], report["lane"], measured, machine)


def _machine(report: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the facts of the machine that ran; of this one, where the report does not tell."""
    return report.get("machine") or machine_facts()


def engine_seconds(report: Mapping[str, Any]) -> float:
    """Return seconds in tasks that fed trees and answered windows."""
    return float(sum(report["step_seconds"].get(step, 0.0) for step in WORK))


def _calibration(own: Past, priced_by: Sequence[Past]) -> dict[str, Any]:
    """Return the prices that now hold, their error, and by how much those before were surprised by the run."""
    before, after = prices_of(priced_by), prices_of([own, *priced_by])
    calibration: dict[str, Any] = {}
    if before and before.knows(own.measured.operations):
        expected = before.seconds(own.measured.operations, own.measured.batches)
        calibration["surprise"] = abs(expected / own.measured.seconds - 1)
    if after:
        calibration |= {"error": after.error, "prices": dict(after.each)}
    return calibration


def _technique(evaluation: Evaluation) -> str:
    names = {demand.technique for tree in evaluation.plan.trees for demand in tree.demands if demand.technique}
    return evaluation.technique or ", ".join(sorted(names))


def _metrics(evaluation: Evaluation) -> dict[str, float]:
    """Return what a run measured, and what its plan let expect. MLflow's comparison opens on the first of them."""
    report, audit = evaluation.report, evaluation.audit
    counted = ("events", "results", "late", "windows_missed", "wall_seconds", "cpu_seconds")
    metrics = milliseconds(report)
    metrics |= {} if evaluation.regret is None else {"CPU_regret": evaluation.regret}
    metrics |= {name: report[name] for name in counted}
    metrics["events_per_second"] = report["events"] / max(report["wall_seconds"], 1e-9)
    if audit:
        metrics |= {"passed_audit": float(audit["passed"]), "rows_audited": audit["rows"]}
        metrics |= {"windows_audited": audit["windows"]}
    return metrics


def _entry(evaluation: Evaluation) -> Entry:
    """Return the MLflow run of an evaluation."""
    plan, report, own = evaluation.plan, evaluation.report, past_of("", evaluation)
    params = {
        "strategy": plan.strategy,
        "technique": _technique(evaluation),
        "lane": report["lane"],
        "plan_fingerprint": plan.fingerprint(),
        "catalog_fingerprint": plan.catalog_fingerprint,
        "plan_version": evaluation.version,
    }
    tags = {"mlflow.loggedArtifacts": json.dumps([{"path": TREES, "type": "table"}])}
    tags |= done_tag(own.measured) if own else {}
    if evaluation.kind != KIND:  # MLflow's comparison opens on the first parameters: those that are compared
        tags |= {
            f"heddle.{name}": str(params.pop(name)) for name in list(params) if name not in ("strategy", "technique")
        }
    return Entry(
        plan.stream,
        evaluation.kind,
        _name(evaluation),
        params,
        _metrics(evaluation),
        tags,
        machine=_machine(report),
        key=evaluation.key,
        note=_note(report, evaluation.audit),
        started=report.get("started", 0.0),
    )


def milliseconds(report: Mapping[str, Any]) -> dict[str, float]:
    """Return the one unit of cost that people read, CPU milliseconds per 1,000 events: measured, and estimated if so.

    >>> milliseconds({"events": 2000, "step_seconds": {"feed": 0.5}, "estimated_seconds": 0.4})
    {'CPU_ms_measured': 250.0, 'CPU_ms_estimated': 200.0}
    """
    if not report["events"]:
        return {}
    seconds = {
        "CPU_ms_measured": sum(report["step_seconds"].values()),
        "CPU_ms_estimated": report.get("estimated_seconds"),
    }
    return {name: value / report["events"] * 1e6 for name, value in seconds.items() if value is not None}


def _name(evaluation: Evaluation) -> str:
    """Return what tells a run from others in a list: its plan, or what it evaluated.

    >>> _name(Evaluation(None, None, {"batches": 2, "numbers": [3, 4], "events": 120_000}, version=2))
    'evaluate v2, batches 3-4, 120,000 events'
    """
    if evaluation.kind != KIND:
        return f"{evaluation.plan.strategy}, {_technique(evaluation)}"
    version = f" v{evaluation.version}" if evaluation.version else ""
    first, last = evaluation.report.get("numbers") or (0, evaluation.report["batches"] - 1)
    batches = f"batch {first}" if first == last else f"batches {first}-{last}" if last >= first else "no batch"
    return f"evaluate{version}, {batches}, {evaluation.report['events']:,} events"


def _note(report: Mapping[str, Any], audit: Mapping[str, Any]) -> str:
    totals = f"{report['events']:,} events, {report['results']:,} results, {report['late']:,} late events"
    if not audit:
        return totals
    return f"{totals}; audit {'passed' if audit['passed'] else 'FAILED'} on {audit['rows']:,} rows"
