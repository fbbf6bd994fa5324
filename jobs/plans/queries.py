"""Queries that join and leave a catalog while it runs: checked, written to its folder, woven into the champion."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jobs.host.say import Say
from jobs.plans.replan import MEASURING, Replanned, Wish, keep, replan
from jobs.spark.session import spark_session
from jobs.tracking.past import prices
from jobs.tracking.registry import champion, decide, plan_of
from jobs.tracking.replans import Replan, log_replan
from jobs.tracking.store import Store
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.write import add_query, remove_query
from optimizer.planning.reweave import reweave
from optimizer.strategies.search.incremental import TOLERANCE


def register_query(folder: str, entry: Mapping[str, Any], say: Say) -> str:
    """Add a query (the mapping of a YAML entry) and name its stream; a mistake is refused and nothing is written."""
    file = add_query(folder, entry)
    stream = load_catalog(folder).stream_of(str(entry["id"]))
    say(f"{entry['id']}: written to {file.name} for stream {stream}")
    return stream


def retire_query(folder: str, query: str, say: Say) -> str:
    """Take a query out of the catalog and name its stream."""
    stream = load_catalog(folder).stream_of(query)
    say(f"{query}: taken out of {remove_query(folder, query).name}")
    return stream


def weave(store: Store, catalog: Catalog, stream: str, key: str, say: Say, tolerance: float = TOLERANCE) -> Replanned:
    """Change the champion for the queries that joined or left, and put it in force.

    A plan that has drifted beyond the tolerance is in force all the same; `replan_due` asks for a replan at once.
    """
    from jobs.measure.recent_on_spark import recent_by

    now = champion(store, stream)
    if now is None:
        return replan(store, catalog, Wish(stream, key=key), say)
    before = plan_of(store, now)
    started = time.perf_counter()
    recent, fitted = recent_by(lambda: spark_session(MEASURING), catalog, stream), prices(store, stream)
    rewoven = reweave(before, catalog, recent, fitted, tolerance, rebuilds=False)
    plan = rewoven.plan
    drift = {"deviation": rewoven.deviation, "tolerance": tolerance, "replan_due": float(rewoven.is_due)}
    say(f"{stream}: {rewoven.deviation:.1%} above what a build should cost, {tolerance:.1%} are tolerated")
    logged = Replan(catalog, plan, time.perf_counter() - started, plan.strategy, measured=drift, key=key)
    outcome = keep(store, plan, log_replan(store, logged), decide(plan, before), True, say)
    return replace(outcome, replan_due=rewoven.is_due)
