"""Which lane every query of a stream takes, and why: as a run had it, or as the files that are there let expect."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from jobs.engine.events.expressions import NotExact
from jobs.engine.events.file_types import reasons_in_catalog
from jobs.engine.events.parquet import name_long_groups, splits_of
from jobs.engine.program.program import Program
from jobs.engine.sources import list_input_files
from jobs.spark.choose_lane import queries_by_lane
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan

NAMED = 20  # reasons that have a line of their own
UNSHARED = "plain Spark answers it, from the events themselves"
Rows = dict[str, dict[str, str]]  # by query: its lane, and why if that is not the file lane


def query_rows(program: Program, reasons: Mapping[str, str], unshared: Mapping[str, str]) -> Rows:
    """Return the lane of every query of a program.

    `reasons` are those of the frame lane's queries, `unshared` those of queries that the plan leaves to Spark."""
    woven = [query.id for grouping in program.groupings for tree in grouping.trees for query in tree.queries]
    return _rows(woven, [query.id for query in program.unshared], reasons, unshared)


def expected_rows(catalog: Catalog, plan: Plan) -> Rows:
    """Return the lane that every query of a plan would take, by the first file that is there; nothing without one."""
    path = _first_file(catalog, plan.stream)
    if not path and catalog.streams[plan.stream].in_parquet:
        return {}
    try:
        _, reasons = queries_by_lane(catalog, plan, path)
    except HeddleError:  # the evaluation will complain about the file
        return {}
    woven = [str(id) for tree in plan.trees for id in tree.queries]
    return _rows(woven, plan.unshared, reasons, plan.reasons)


def expected_long_groups(catalog: Catalog, plan: Plan) -> list[str]:
    """Return a line where the largest file that is there has a row group that keeps the cores of a machine waiting."""
    source = catalog.streams[plan.stream]
    cores = os.cpu_count() or 1
    try:
        largest = max(list_input_files(source), key=lambda file: file.size, default=None) if source.in_parquet else None
        return name_long_groups(splits_of([largest], cores), cores) if largest else []
    except HeddleError:  # the evaluation will complain about the file
        return []


def spark_has_work(catalog: Catalog, stream: str, lane: str = "auto") -> bool:
    """Return whether Spark reads or answers something itself, so that it pays to let Java compile that well."""
    if lane == "frame" or not catalog.streams[stream].in_parquet or catalog.unshared(stream):
        return True
    path = _first_file(catalog, stream)
    try:
        return bool(path and reasons_in_catalog(catalog, stream, path))
    except (HeddleError, NotExact):  # the evaluation will complain about the file
        return False


def _first_file(catalog: Catalog, stream: str) -> str:
    source = catalog.streams[stream]
    try:
        return next((file.path for file in list_input_files(source)), "") if source.in_parquet else ""
    except HeddleError:
        return ""


def _rows(woven: Iterable[str], unshared: Iterable[str], reasons: Mapping[str, str], plan: Mapping[str, str]) -> Rows:
    rows = {id: {"lane": "frame" if id in reasons else "file", "reason": reasons.get(id, "")} for id in woven}
    rows |= {id: {"lane": "unshared", "reason": plan.get(id, UNSHARED)} for id in unshared}
    return dict(sorted(rows.items()))


def lane_lines(rows: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return a line for every reason that keeps queries out of the file lane, where some are in it.

    >>> lane_lines({"a": {"lane": "file", "reason": ""}, "b": {"lane": "frame", "reason": "x / 2"}})
    ['frame lane: b, since only Spark evaluates x / 2']
    """
    by_reason: dict[str, list[str]] = {}
    for id, row in rows.items():
        if row["lane"] == "frame":
            by_reason.setdefault(row["reason"], []).append(id)
    lines = [
        f"frame lane: {_name_some(ids)}, since {_because(reason)}" for reason, ids in list(by_reason.items())[:NAMED]
    ]
    return [*lines, f"... and {len(by_reason) - NAMED} reasons more"] if len(by_reason) > NAMED else lines


def _because(reason: str) -> str:
    return f"{reason} says so" if reason.startswith("--") else f"only Spark evaluates {reason}"


def _name_some(ids: Sequence[str]) -> str:
    named = ", ".join(ids[:3])
    return named if len(ids) <= 3 else f"{named} and {len(ids) - 3} more"
