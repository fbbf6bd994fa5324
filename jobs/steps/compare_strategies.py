"""A scheduled comparison: what its job is called with, and how its report is logged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jobs.host.say import Say
from jobs.host.settings import settings
from jobs.runs.compare import Compared
from jobs.steps.evaluate import run_file, submission
from jobs.tracking.comparisons import log_comparison, trial_of, verdict
from jobs.tracking.evaluations import Evaluation
from jobs.tracking.store import Store, open_store
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.definition import Plan


def comparison_arguments(params: Mapping[str, Any], run: str) -> dict[str, Any]:
    """Return what the job is called with, checked against the catalog."""
    place, stream = settings(), params["stream"]
    catalog = load_catalog(place.catalog)
    catalog.of_stream(stream)
    report = run_file(place, run, stream, "compared")
    arguments = [place.catalog, "--stream", stream, "--files", str(params["files"]), "--report", report]
    arguments += [f"--strategy={name}" for name in params["strategies"]]
    arguments += [f"--technique={name}" for name in params["techniques"]]
    arguments += [f"--{name}={params[name]}" for name in ("rate", "keys") if params[name]]
    how = submission(catalog, stream, "compare")
    return {"stream": stream, "run": run, "report": report, "compare": arguments, **how}


def log_report(job: Mapping[str, Any], say: Say) -> dict[str, Any]:
    """Log what the job compared."""
    place = settings()
    plans = [Compared(**plan) for plan in json.loads(Path(job["report"]).read_text())]
    run, deviation = log_compared(open_store(place), load_catalog(place.catalog), plans, job["run"])
    say(f"{job['stream']}: {verdict_of(plans)}")
    say(f"{job['stream']}: {len(plans)} plans compared; estimates are {deviation:.1%} off; MLflow run {run}")
    return {"stream": job["stream"], "run": run, "deviation": deviation}


def verdict_of(plans: Iterable[Compared]) -> str:
    """Say which of the plans is really faster."""
    compared = list(plans)
    several = len({plan.technique for plan in compared}) > 1
    parsed = [Plan.from_json(plan.plan) for plan in compared]
    return verdict(
        [
            trial_of(plan.strategy, each.technique, plan.fingerprint(), each.report, several)
            for each, plan in zip(compared, parsed, strict=True)
        ]
    )


def log_compared(store: Store, catalog: Catalog, plans: Iterable[Compared], key: str = "") -> tuple[str, float]:
    """Log a comparison; return its parent run and the mean deviation of estimated from measured throughput."""
    runs = [Evaluation(catalog, Plan.from_json(plan.plan), plan.report, technique=plan.technique) for plan in plans]
    return log_comparison(store, runs, key)
