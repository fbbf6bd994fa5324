"""A scheduled change of a stream's champion: by a replan, or because a query joins or leaves the platform's catalog.

The runs in MLflow that are old enough are forgotten.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host.say import Say
from jobs.host.settings import settings
from jobs.plans import queries
from jobs.plans.replan import Wish, done_before, replan
from jobs.runs.report import format_time
from jobs.tracking.registry import history
from jobs.tracking.store import Store, open_store
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING

KINDS = ("evaluation", "comparison_run", "comparison", "tree", "replan")  # runs of registered plans are never forgotten
KEEP, DAYS = "HEDDLE_KEEP_RUNS", 90
MOST = 500  # runs of a kind that are forgotten at a time
DAY = 86_400_000  # milliseconds


def forget_runs(streams: Sequence[str], say: Say) -> None:
    """Delete the runs of streams that are older than the setting keeps them."""
    store, days = open_store(settings()), days_to_keep()
    for stream in streams:
        count = forget_old_runs(store, stream, days)
        if count:
            say(f"{stream}: {count} {'run' if count == 1 else 'runs'} older than {days} days deleted from MLflow")


def days_to_keep() -> int:
    """Return for how many days runs are kept, 90 unless HEDDLE_KEEP_RUNS says otherwise; 0 is for ever."""
    text = os.environ.get(KEEP, "") or str(DAYS)
    if not text.isdecimal():
        raise HeddleError(f"{KEEP}={text!r} is no number of days; write 90, or 0 to keep every run")
    return int(text)


def forget_old_runs(store: Store, stream: str, days: int) -> int:
    """Mark the runs of a stream that are older than so many days as deleted, for `mlflow gc`; return how many."""
    if not days:
        return 0
    registered = {version.run for version in history(store, stream)}
    before = f"attributes.start_time < {int(time.time() * 1000) - days * DAY}"
    old = [run for kind in KINDS for run in store.runs(stream, kind, before, MOST)]
    runs = [run for run in old if run.info.run_id not in registered]
    for run in runs:
        store.client.delete_run(run.info.run_id)
    return len(runs)


def replan_once(stream: str, params: Mapping[str, Any], run: str, say: Say) -> dict[str, Any]:
    """Replan as a form says, once per run and stream: a task that is tried again finds what it did before."""
    options = (tuple(params["strategies"]), params["technique"], params["rate"], params["keys"], params["promote"])
    wish = Wish(stream, *options, key=f"{run}/{stream}")
    store = open_store(settings())
    outcome = done_before(store, wish) or replan(store, load_catalog(settings().catalog), wish, say)
    return outcome.to_dict()


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
    past = f"heddle backfill {place.catalog} --stream {stream} --warehouse {place.warehouse} --to '{until}'"
    return (
        f"{stream}: the next evaluation answers windows that end after {until}; those before are added by {past}, "
        "or by the DAG heddle_backfill"
    )
