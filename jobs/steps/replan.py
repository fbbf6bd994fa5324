"""A scheduled replan of a stream."""

from __future__ import annotations

from typing import Any

from jobs.host.say import Say
from jobs.host.settings import settings
from jobs.plans.replan import Wish, done_before, replan
from jobs.tracking.store import open_store
from optimizer.catalog.read.load import load_catalog


def replan_once(wish: Wish, say: Say) -> dict[str, Any]:
    """Replan by the platform's settings, once per key: a task that is tried again finds what it did before."""
    place = settings()
    store = open_store(place)
    outcome = done_before(store, wish) or replan(store, load_catalog(place.catalog), wish, say)
    return outcome.to_dict()
