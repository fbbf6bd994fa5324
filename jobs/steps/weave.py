"""A scheduled change of the champion, after a query has joined or left the catalog."""

from __future__ import annotations

from typing import Any

from jobs.host.say import Say
from jobs.host.settings import settings
from jobs.plans.queries import weave
from jobs.plans.replan import Wish, done_before
from jobs.tracking.store import open_store
from optimizer.catalog.read.load import load_catalog


def weave_once(stream: str, key: str, say: Say) -> dict[str, Any]:
    """Weave by the platform's settings, once per key: a task that is tried again finds what it did before."""
    place = settings()
    store = open_store(place)
    outcome = done_before(store, Wish(stream, key=key)) or weave(store, load_catalog(place.catalog), stream, key, say)
    return outcome.to_dict()
