"""Queries that join and leave a catalog while it runs: checked, written to its folder, woven into the champion."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from jobs.host.say import Say
from jobs.measure.machine_prices import load_prices
from jobs.plans.replan import MEASURING, Replanned, Wish, keep, replan
from jobs.spark.session import spark_session
from jobs.tracking.past import prices
from jobs.tracking.registry import champion, decide, plan_of
from jobs.tracking.replans import Replan, log_replan
from jobs.tracking.store import Store
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import catalog_files, load_catalog
from optimizer.catalog.write import add_query, remove_query
from optimizer.plan.definition import Plan
from optimizer.plan.explain import cost_text, counted
from optimizer.plan.prices import Prices, estimate_milliseconds
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


def preview_query(store: Store, folder: str, entry: Mapping[str, Any], say: Say) -> None:
    """Say what registering a query would do to its stream's plan; nothing is written."""
    id = str(entry.get("id", ""))
    with copied_folder(folder) as copy:
        add_query(copy, entry)
        catalog = load_catalog(copy)
        preview_weave(store, catalog, catalog.stream_of(id), say)


def preview_retirement(store: Store, folder: str, query: str, say: Say) -> None:
    """Say what retiring a query would do to its stream's plan; nothing is written."""
    stream = load_catalog(folder).stream_of(query)
    with copied_folder(folder) as copy:
        remove_query(copy, query)
        preview_weave(store, load_catalog(copy), stream, say)


@contextmanager
def copied_folder(folder: str) -> Iterator[str]:
    """Yield a copy of a catalog's files, beside the folder, since paths in a catalog are relative to where it is."""
    with tempfile.TemporaryDirectory(dir=Path(folder).parent, prefix=".dry-run-") as copy:
        for file in catalog_files(Path(folder)):
            shutil.copy(file, copy)
        yield copy


def preview_weave(store: Store, catalog: Catalog, stream: str, say: Say) -> None:
    """Say how a changed catalog would change the champion of a stream, and what that costs."""
    from jobs.measure.stream import recent_by

    now = champion(store, stream)
    if now is None:
        say(f"dry run: {stream} has no plan yet; the query takes part from the first replan on")
        return
    before = plan_of(store, now)
    recent, fitted = recent_by(lambda: spark_session(MEASURING), catalog, stream), prices(store, stream)
    rewoven = reweave(before, catalog, recent, fitted, rebuilds=False)
    for line in describe_change(before, rewoven.plan, fitted):
        say(f"dry run: {line}")
    if rewoven.is_due:
        say(f"dry run: the plan would cost {drift_text(rewoven.deviation)}: a replan would follow")


def drift_text(deviation: float) -> str:
    """Say how much dearer a plan is, after queries joined and left, than one made anew.

    >>> drift_text(0.062), drift_text(-0.1)
    ('6.2% more than a new one should', '10.0% less than a new one should')
    """
    return f"{abs(deviation):.1%} {'less' if deviation < 0 else 'more'} than a new one should"


def describe_change(before: Plan, after: Plan, fitted: Prices | None) -> Iterator[str]:
    """Yield what differs between two plans of a stream: queries, trees and cost.

    >>> from optimizer import Window, optimize
    >>> before, after = (optimize([Window(16, 4), Window(8, 4)][:count], 1.2, "shared") for count in (1, 2))
    >>> list(describe_change(before, after, None))
    ['1 query in 1 tree, cost 1.95 operations a second', 'then 2 queries in 1 tree, cost 2.7', 'joins t1: 1']
    """
    yield _describe_plan(before, fitted, "operations a second")
    yield f"then {_describe_plan(after, fitted)}"
    place_before = {query: tree.id for tree in before.trees for query in tree.queries}
    place_after = {query: tree.id for tree in after.trees for query in tree.queries}
    for query in [query for query in place_after if query not in place_before]:
        tree = after.tree(place_after[query])
        yield f"joins {tree.id}: {query}" if len(tree.queries) > 1 else f"gets a tree of its own, {tree.id}: {query}"
    for query in [query for query in place_before if query not in place_after]:
        yield f"leaves: {query}"


def _describe_plan(plan: Plan, fitted: Prices | None, unit: str = "") -> str:
    queries, trees = sum(len(tree.queries) for tree in plan.trees), counted(len(plan.trees), "tree", "trees")
    milliseconds = estimate_milliseconds(plan, fitted)
    if fitted is not None and milliseconds is not None:
        return f"{counted(queries)} in {trees}, {milliseconds:.4g} CPU ms per 1,000 events"
    return f"{counted(queries)} in {trees}, cost {cost_text(plan.cost)} {unit}".rstrip()


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
    from jobs.measure.stream import recent_by

    now = champion(store, stream)
    if now is None:
        return replan(store, catalog, Wish(stream, key=key), say)
    before = plan_of(store, now)
    started = time.perf_counter()
    recent, fitted = recent_by(lambda: spark_session(MEASURING), catalog, stream), prices(store, stream)
    rewoven = reweave(before, catalog, recent, fitted, tolerance, rebuilds=False)
    plan = rewoven.plan
    drift = {"deviation": rewoven.deviation, "tolerance": tolerance, "replan_due": float(rewoven.is_due)}
    say(f"{stream}: the plan costs {drift_text(rewoven.deviation)}; up to {tolerance:.1%} more is tolerated")
    seconds, priced = time.perf_counter() - started, fitted or load_prices()
    logged = Replan(catalog, plan, seconds, plan.strategy, measured=drift, key=key, prices=priced)
    outcome = keep(store, plan, log_replan(store, logged), decide(plan, before), True, say)
    return replace(outcome, replan_due=rewoven.is_due)
