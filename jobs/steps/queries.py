"""A scheduled change of the queries: one joins or leaves the platform's catalog, and the champion is changed for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobs.host.say import Say
from jobs.host.settings import settings
from jobs.plans import queries
from jobs.plans.replan import Wish, done_before
from jobs.tracking.store import open_store
from optimizer.catalog.read.load import load_catalog


def register_query(entry: Mapping[str, Any], say: Say) -> str:
    """Add a query, the mapping of a YAML entry, to the platform's catalog; return its stream."""
    return queries.register_query(settings().catalog, entry, say)


def retire_query(query: str, say: Say) -> str:
    """Take a query out of the platform's catalog; return its stream."""
    return queries.retire_query(settings().catalog, query, say)


def weave_once(stream: str, key: str, tolerance: float, say: Say) -> dict[str, Any]:
    """Change the champion by the platform's settings, once per key: a task that is tried again finds what it did."""
    store = open_store(settings())
    catalog = load_catalog(settings().catalog)
    outcome = done_before(store, Wish(stream, key=key)) or queries.weave(store, catalog, stream, key, say, tolerance)
    return outcome.to_dict()
