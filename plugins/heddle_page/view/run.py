"""What a run of a DAG left behind: the MLflow runs that carry its key, each with its plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jobs.host.settings import Settings
from jobs.tracking.past import run_rows
from jobs.tracking.store import KEY, Store
from plugins.heddle_page.read.catalogs import catalog_of, streams_of
from plugins.heddle_page.read.history import existing_store, experiment_id, run_link

KINDS = ("replan", "evaluation", "comparison")
LOOKED_AT = 200  # runs of a kind


@dataclass(frozen=True)
class LoggedRun:
    """An MLflow run that a DAG run logged."""

    stream: str
    kind: str
    name: str
    status: str
    note: str
    reason: str  # why a plan was promoted or not
    version: int | None
    link: str


@dataclass
class RunPage:
    """All MLflow runs of a DAG run."""

    dag_id: str
    run_id: str
    runs: list[LoggedRun] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def run_view(settings: Settings, dag_id: str, run_id: str) -> RunPage:
    """Read every MLflow run whose key names the DAG run."""
    page = RunPage(dag_id, run_id)
    catalog, page.notes = catalog_of(settings)
    try:
        store = existing_store(settings)
        for stream in streams_of(settings, catalog) if store and run_id else []:
            page.runs += _runs_of_stream(store, stream, run_id) if store and experiment_id(store, stream) else []
    except Exception as error:  # whatever MLflow's client meets; the line says what
        page.notes.append(f"MLflow at {settings.tracking} cannot be read: {str(error).splitlines()[0][:200]}")
    return page


def _runs_of_stream(store: Store, stream: str, run_id: str) -> list[LoggedRun]:
    rows = [(kind, row) for kind in KINDS for row in run_rows(store, stream, kind, LOOKED_AT)]
    return [_logged_run(stream, kind, row) for kind, row in rows if run_id in row["tags"].get(KEY, "").split("/")]


def _logged_run(stream: str, kind: str, row: dict[str, Any]) -> LoggedRun:
    tags = row["tags"]
    version = tags.get("version") or row["params"].get("plan_version") or 0
    return LoggedRun(
        stream,
        kind,
        row["name"],
        row["status"],
        tags.get("mlflow.note.content", ""),
        tags.get("reason", ""),
        int(version) or None,
        run_link(str(row["experiment"]), row["run"]),
    )
