"""The page's addresses. Airflow does not guard a plugin's: every one of them asks for a user who may read the DAGs.

Every process of Airflow imports this module, and only the one that serves pages needs what an address imports.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.api_fastapi.core_api.security import requires_access_dag
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse, Response

from jobs.host.settings import settings

if TYPE_CHECKING:
    from plugins.heddle_page.page import Page, Running

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


@app.exception_handler(RequestValidationError)
def refuse(request: Request, error: RequestValidationError) -> HTMLResponse:
    """Say which part of an address is missing or no number."""
    mistake = error.errors()[0]
    name = mistake["loc"][-1]
    why = f"{name} is missing" if mistake["type"] == "missing" else f"{name} {mistake['input']!r} is no number"
    depth = request.url.path.removeprefix(request.scope.get("root_path", "")).count("/") - 1
    return _missing(why, back="../" * depth or "./")


@app.get("/")
def overview(stream: str | None = None, version: int | None = None) -> HTMLResponse:
    """Show everything about one stream; the plan in force, or the one of a version."""
    return _answer("overview.html", lambda: _read_page(stream, version))


@app.get("/status")
def status(stream: str) -> HTMLResponse:
    """Show the line of status alone, which the page refreshes by itself."""
    return _answer("status.html", lambda: _read_page(stream))


@app.get("/query")
def query(stream: str, id: str) -> HTMLResponse:
    """Show one query: its chart, its SQL, its newest answers."""
    from plugins.heddle_page.query import read_query

    return _answer("query.html", lambda: read_query(settings(), stream, id))


@app.get("/metrics")
def metrics() -> Response:
    """Show the figures of every stream as Prometheus scrapes them."""
    from plugins.heddle_page.page import metrics_text

    return PlainTextResponse(metrics_text(settings()), headers=HEADERS, media_type="text/plain; version=0.0.4")


@app.get("/run")
def run(dag_id: str = "", run_id: str = "") -> HTMLResponse:
    """Show what a run of a DAG left behind: its plan and its MLflow run."""
    from plugins.heddle_page.view.run import run_view

    return _answer("run.html", lambda: run_view(settings(), dag_id, run_id))


@app.get("/audit/{stream}/{sequence}")
def audit(stream: str, sequence: int) -> HTMLResponse:
    """Show the page that an audit wrote; it carries a stricter policy of its own, and its styles are inside it."""
    from plugins.heddle_page.read.batches import audit_page

    text = audit_page(settings(), stream, sequence)
    if text is None:
        return _missing(f"stream {stream} has no audit {sequence}", back="../../")
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

    from plugins.heddle_page.page import Running

    ours = select(DagTag.dag_id).where(DagTag.name == TAG)
    with create_session() as session:
        rows = session.execute(
            select(DagRun.dag_id, DagRun.run_id, DagRun.start_date)
            .where(DagRun.state == "running", DagRun.dag_id.in_(ours))
            .order_by(DagRun.start_date)
        )
        return [Running(*row) for row in rows]


def _read_page(stream: str | None, version: int | None = None) -> Page:
    """Return everything about one stream, with the DAGs that run now."""
    from plugins.heddle_page.page import read_page

    page = read_page(settings(), stream, version)
    page.running = running_dags()
    return page


def _answer(template: str, read: Callable[[], Any]) -> HTMLResponse:
    """Return a template filled in with what was read, or the page that says what there is not."""
    from plugins.heddle_page.page import MissingError
    from plugins.heddle_page.show import show

    try:
        page = read()
    except MissingError as error:
        return _missing(str(error))
    return HTMLResponse(show(template, page=page), headers=HEADERS)


def _missing(why: str, back: str = "./") -> HTMLResponse:
    from plugins.heddle_page.show import show

    page = {"why": why, "back": back, "notes": []}
    return HTMLResponse(show("missing.html", page=page), 404, headers=HEADERS)
