"""A scheduled replan of a stream, and the runs in MLflow that are old enough to be forgotten."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from jobs.host.say import Say
from jobs.host.settings import settings
from jobs.plans.replan import Wish, done_before, replan
from jobs.tracking.registry import history
from jobs.tracking.store import Store, open_store
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError

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
    """Mark runs of a stream older than so many days as deleted; return how many. `mlflow gc` frees the disk."""
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
