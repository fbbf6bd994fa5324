"""A scheduled comparison: what its job is called with, and how its report is logged."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jobs.host.settings import settings
from jobs.runs.compare import Compared
from jobs.steps.evaluate import run_file, submission
from jobs.steps.log_runs import log_compared
from jobs.tracking.store import open_store
from optimizer.catalog.read.load import load_catalog

Say = Callable[[str], None]


def comparison_arguments(params: Mapping[str, Any], run: str) -> dict[str, Any]:
    """What the job is called with, checked against the catalog."""
    place, stream = settings(), params["stream"]
    catalog = load_catalog(place.catalog)
    catalog.of_stream(stream)
    report = run_file(place, run, stream, "compared")
    arguments = [place.catalog, "--stream", stream, "--files", str(params["files"]), "--report", report]
    arguments += [f"--strategy={name}" for name in params["strategies"]]
    arguments += [f"--technique={name}" for name in params["techniques"]]
    arguments += [f"--{name}={params[name]}" for name in ("rate", "keys") if params[name]]
    return {"stream": stream, "run": run, "report": report, "compare": arguments, **submission(catalog.streams[stream])}


def log_report(asked: Mapping[str, Any], say: Say) -> dict[str, Any]:
    """Log what the job compared."""
    place = settings()
    found = [Compared(**each) for each in json.loads(Path(asked["report"]).read_text())]
    run, deviation = log_compared(open_store(place), load_catalog(place.catalog), found, asked["run"])
    say(f"{asked['stream']}: {len(found)} plans compared; estimates are {deviation:.1%} off; MLflow run {run}")
    return {"stream": asked["stream"], "run": run, "deviation": deviation}
