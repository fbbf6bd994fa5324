"""What ran, entered into the tracking store: read from the reports that submitted jobs leave."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobs.runs.compare import Compared
from jobs.tracking.comparisons import log_comparison
from jobs.tracking.evaluations import Evaluation, log_evaluation
from jobs.tracking.past import run_rows
from jobs.tracking.store import Store
from optimizer.catalog.model.catalog import Catalog
from optimizer.plan.definition import Plan


def log_compared(store: Store, catalog: Catalog, found: Iterable[Compared], key: str = "") -> tuple[str, float]:
    """A comparison as runs; the parent run, and the mean deviation of estimated from measured throughput."""
    runs = [Evaluation(catalog, Plan.from_json(each.plan), each.report, technique=each.technique) for each in found]
    return log_comparison(store, runs, key)


def log_evaluated(store: Store, evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation as a run; what the store now says of it."""
    run = log_evaluation(store, evaluation)
    rows = run_rows(store, evaluation.plan.stream, evaluation.kind)
    return next(row for row in rows if row["run"] == run)
