"""The page's addresses. Airflow does not guard a plugin's: every one of them asks for a user who may read the DAGs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from airflow.api_fastapi.core_api.security import requires_access_dag
from fastapi import Depends, FastAPI, HTTPException
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse, Response

from jobs.host.settings import settings
from plugins.heddle_page.metrics import metrics_text
from plugins.heddle_page.page import MissingError, Running, read_page
from plugins.heddle_page.query import read_query
from plugins.heddle_page.read.audits import audit_page
from plugins.heddle_page.show import show
from plugins.heddle_page.view.run import run_view

STATIC = Path(__file__).parent / "static"
TAG = "heddle"  # of the DAGs
FILES = {path.name for path in STATIC.iterdir()}
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}

# Without these three FastAPI adds addresses of its own, which no dependency guards.
app = FastAPI(
    title="Heddle",
    openapi_url=None,
    docs_url=None,
    redoc_url=None,
    dependencies=[Depends(requires_access_dag("GET"))],
)


@app.get("/")
def overview(stream: str | None = None, version: int | None = None) -> HTMLResponse:
    """Show everything about one stream; the plan in force, or the one of a version."""
    try:
        page = read_page(settings(), stream, version)
    except MissingError as error:
        return _missing(error)
    page.running = running_dags()
    return _page("overview.html", page=page)


@app.get("/status")
def status(stream: str) -> HTMLResponse:
    """Show the line of status alone, which the page refreshes by itself."""
    try:
        page = read_page(settings(), stream)
    except MissingError as error:
        return _missing(error)
    page.running = running_dags()
    return _page("status.html", page=page)


@app.get("/query")
def query(stream: str, id: str) -> HTMLResponse:
    """Show one query: its chart, its SQL, its newest answers."""
    try:
        return _page("query.html", page=read_query(settings(), stream, id))
    except MissingError as error:
        return _missing(error)


@app.get("/metrics")
def metrics() -> Response:
    """Show the figures of every stream as Prometheus scrapes them."""
    return PlainTextResponse(metrics_text(settings()), headers=HEADERS, media_type="text/plain; version=0.0.4")


@app.get("/run")
def run(dag_id: str = "", run_id: str = "") -> HTMLResponse:
    """Show what a run of a DAG left behind: its plan and its MLflow run."""
    return _page("run.html", page=run_view(settings(), dag_id, run_id))


@app.get("/audit/{stream}/{sequence}")
def audit(stream: str, sequence: int) -> HTMLResponse:
    """Show the page that an audit wrote; it carries a stricter policy of its own, and its styles are inside it."""
    text = audit_page(settings(), stream, sequence)
    if text is None:
        return _missing(MissingError(f"stream {stream} has no audit {sequence}"), back="../../")
    inline = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"}
    return HTMLResponse(text, headers=HEADERS | inline)


@app.get("/static/{name}")
def static(name: str) -> Response:
    """Serve styles, the script and the icons."""
    if name not in FILES:
        raise HTTPException(404, "there is no such file")
    return FileResponse(STATIC / name, headers=HEADERS | {"Cache-Control": "private, max-age=300"})


def running_dags() -> list[Running]:
    """Return the runs of Heddle's DAGs that are under way."""
    from airflow.models.dag import DagTag
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session
    from sqlalchemy import select

    ours = select(DagTag.dag_id).where(DagTag.name == TAG)
    with create_session() as session:
        rows = session.execute(
            select(DagRun.dag_id, DagRun.run_id, DagRun.start_date)
            .where(DagRun.state == "running", DagRun.dag_id.in_(ours))
            .order_by(DagRun.start_date)
        )
        return [Running(*row) for row in rows]


def _missing(error: MissingError, back: str = "./") -> HTMLResponse:
    page = {"why": str(error), "back": back, "notes": []}
    return HTMLResponse(show("missing.html", page=page), 404, headers=HEADERS)


def _page(template: str, **values: Any) -> HTMLResponse:
    return HTMLResponse(show(template, **values), headers=HEADERS)
