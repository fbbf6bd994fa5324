"""The page's addresses. Airflow does not guard a plugin's: every one of them asks for a user who may read the DAGs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from airflow.api_fastapi.core_api.security import requires_access_dag
from fastapi import Depends, FastAPI, HTTPException
from fastapi.responses import FileResponse, HTMLResponse, Response

from jobs.host.settings import settings
from plugins.heddle_page.page import read_page, show
from plugins.heddle_page.read.audits import audit_page
from plugins.heddle_page.view.run import run_view

STATIC = Path(__file__).parent / "static"
FILES = {path.name for path in STATIC.iterdir()}
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
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
    content = read_page(settings(), stream, version)
    if content is None:
        raise HTTPException(404, "there is no such stream")
    return _page("overview.html", page=content)


@app.get("/run")
def run(dag_id: str = "", run_id: str = "") -> HTMLResponse:
    """Show what a run of a DAG left behind: its plan and its MLflow run."""
    return _page("run.html", page=run_view(settings(), dag_id, run_id))


@app.get("/audit/{stream}/{sequence}")
def audit(stream: str, sequence: int) -> HTMLResponse:
    """Show the page that an audit wrote; it carries a stricter policy of its own, and its styles are inside it."""
    text = audit_page(settings(), stream, sequence)
    if text is None:
        raise HTTPException(404, "there is no such audit")
    inline = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"}
    return HTMLResponse(text, headers=HEADERS | inline)


@app.get("/static/{name}")
def static(name: str) -> Response:
    """Serve styles, the script and the icons."""
    if name not in FILES:
        raise HTTPException(404, "there is no such file")
    return FileResponse(STATIC / name, headers=HEADERS | {"Cache-Control": "private, max-age=300"})


def _page(template: str, **values: Any) -> HTMLResponse:
    return HTMLResponse(show(template, **values), headers=HEADERS)
