"""Queries that join and leave a catalog while it runs: checked, written to its folder, woven into the champion."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
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


def register_query(folder: str, entry: Mapping[str, Any], say: Say, who: str = "") -> str:
    """Add a query (the mapping of a YAML entry) and name its stream; a mistake is refused and nothing is written."""
    file = add_query(folder, entry)
    stream = load_catalog(folder).stream_of(str(entry["id"]))
    say(f"{entry['id']}: written to {file.name} for stream {stream}")
    commit_change(file, f"Register query {entry['id']} over {stream}", who, say)
    return stream


def retire_query(folder: str, query: str, say: Say, who: str = "") -> str:
    """Take a query out of the catalog and name its stream."""
    stream = load_catalog(folder).stream_of(query)
    file = remove_query(folder, query)
    say(f"{query}: taken out of {file.name}")
    commit_change(file, f"Retire query {query} over {stream}", who, say)
    return stream


def commit_change(file: Path, subject: str, who: str, say: Say) -> None:
    """Commit the change of one file of a catalog that is under git, with who asked for it; others are left alone.

    The change is made by then: where git refuses, a line says so, and a person can commit it.
    """
    place = ["git", "-C", str(file.parent)]
    try:
        ignored = subprocess.run([*place, "check-ignore", "--quiet", file.name], capture_output=True, check=False)
        if ignored.returncode != 1:  # 0: git is told to leave it alone; 128: no work tree
            return
        message = f"{subject}\n\nAsked for by {who or 'nobody known'}.\n"
        subprocess.run([*place, "add", "-A", "--", file.name], capture_output=True, check=True)
        commit = [*place, "commit", "--quiet", "--message", message, "--", file.name]
        subprocess.run(commit, capture_output=True, check=True)
    except subprocess.CalledProcessError as error:
        reason = " ".join((error.stderr or error.stdout or b"").decode(errors="replace").split())[:200]
        say(f"{file.name}: the change was not committed to git: {reason}")
    except OSError:
        return  # there is no git here
    else:
        say(f"{file.name}: committed to git: {subject}")


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
