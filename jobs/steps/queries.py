"""A scheduled change of the queries: one joins or leaves the platform's catalog, and the champion is changed for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host.say import Say
from jobs.host.settings import settings
from jobs.plans import queries
from jobs.plans.replan import Wish, done_before
from jobs.runs.report import format_time
from jobs.tracking.store import open_store
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING


def register_query(form: Mapping[str, Any], say: Say, who: str = "") -> str:
    """Add the query of a form to the platform's catalog; return its stream."""
    return queries.register_query(settings().catalog, entry_of_form(form), say, who)


def entry_of_form(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the YAML entry that a form means: a whole SQL, or fields with an aggregate on every line.

    >>> entry_of_form({"id": "a", "sql": "", "select": "max(x)\\n min(x) AS low", "stream": "s"})
    {'id': 'a', 'select': ['max(x)', 'min(x) AS low'], 'stream': 's'}
    """
    sql, lines = form.get("sql"), [line.strip() for line in (form.get("select") or "").splitlines() if line.strip()]
    if bool(sql) == bool(lines):
        raise HeddleError("fill in either select or sql")
    if sql:
        return {"id": form["id"], "sql": sql}
    fields = {name: value for name, value in form.items() if name != "sql"}
    return {**fields, "select": lines if len(lines) > 1 else lines[0]}


def retire_query(query: str, say: Say, who: str = "") -> str:
    """Take a query out of the platform's catalog; return its stream."""
    return queries.retire_query(settings().catalog, query, say, who)


def preview_query(form: Mapping[str, Any], say: Say) -> None:
    """Say what adding the query of a form would change; nothing is written."""
    queries.preview_query(open_store(settings()), settings().catalog, entry_of_form(form), say)


def preview_retirement(query: str, say: Say) -> None:
    """Say what taking a query out would change; nothing is written."""
    queries.preview_retirement(open_store(settings()), settings().catalog, query, say)


def weave_once(stream: str, key: str, tolerance: float, say: Say) -> dict[str, Any]:
    """Change the champion by the platform's settings, once per key: a task that is tried again finds what it did."""
    store = open_store(settings())
    catalog = load_catalog(settings().catalog)
    outcome = done_before(store, Wish(stream, key=key)) or queries.weave(store, catalog, stream, key, say, tolerance)
    say(first_answers(stream))
    return outcome.to_dict()


def first_answers(stream: str) -> str:
    """Say from when on a query that joins a stream now is answered."""
    place = settings()
    manifest = newest(stream_storage(place.warehouse, stream))
    if manifest.watermark == BEGINNING:
        return f"{stream}: nothing is evaluated yet; the first evaluation answers every window of the query"
    until = format_time(manifest.watermark)
    past = f"heddle backfill {place.catalog} --stream {stream} --warehouse {place.warehouse} --from T --to '{until}'"
    return f"{stream}: the next evaluation answers windows that end after {until}; earlier ones: {past}"
