"""A scheduled replan of a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobs.host.say import Say
from jobs.host.settings import settings
from jobs.plans.replan import Wish, done_before, replan
from jobs.tracking.store import open_store
from optimizer.catalog.read.load import load_catalog


def replan_once(stream: str, params: Mapping[str, Any], run: str, say: Say) -> dict[str, Any]:
    """Replan as a form says, once per run and stream: a task that is tried again finds what it did before."""
    options = (tuple(params["strategies"]), params["technique"], params["rate"], params["keys"], params["promote"])
    wish = Wish(stream, *options, key=f"{run}/{stream}")
    store = open_store(settings())
    outcome = done_before(store, wish) or replan(store, load_catalog(settings().catalog), wish, say)
    return outcome.to_dict()
