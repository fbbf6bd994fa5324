"""A scheduled replan of a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.host.say import Say
from jobs.host.settings import settings
from jobs.plans.replan import Wish, done_before, replan
from jobs.tracking.retention import days_to_keep, forget_old_runs
from jobs.tracking.store import open_store
from optimizer.catalog.read.load import load_catalog


def forget_runs(streams: Sequence[str], say: Say) -> None:
    """Delete the runs of streams that are older than the setting keeps them."""
    store, days = open_store(settings()), days_to_keep()
    for stream in streams:
        count = forget_old_runs(store, stream, days)
        if count:
            say(f"{stream}: {count} {'run' if count == 1 else 'runs'} older than {days} days deleted from MLflow")


def replan_once(stream: str, params: Mapping[str, Any], run: str, say: Say) -> dict[str, Any]:
    """Replan as a form says, once per run and stream: a task that is tried again finds what it did before."""
    options = (tuple(params["strategies"]), params["technique"], params["rate"], params["keys"], params["promote"])
    wish = Wish(stream, *options, key=f"{run}/{stream}")
    store = open_store(settings())
    outcome = done_before(store, wish) or replan(store, load_catalog(settings().catalog), wish, say)
    return outcome.to_dict()
