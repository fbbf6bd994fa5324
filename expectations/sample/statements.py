"""Which statements of a stream are audited, and which of their answers are exact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from jobs.engine.warehouse.manifest import Manifest, has_all_marks
from jobs.engine.warehouse.state_files import RetainedSlices, load_retained
from jobs.engine.warehouse.statements import EvaluatedStatement, evaluated_statement
from jobs.host.storage import Storage
from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.catalog import Catalog
from optimizer.windows.window import BEGINNING

EXACT = {
    "count",
    "min",
    "max",
    "range",
    "any_value",
    "bool_and",
    "bool_or",
    "bit_and",
    "bit_or",
    "first",
    "last",
    "argmin",
    "argmax",
    "mode",
    "median",
    *(name for name in AGGREGATES if name.startswith("percentile")),
}


def is_exact(statement: EvaluatedStatement, query: str) -> bool:
    """Return whether a query's answers equal Spark's to the last bit; sums of floats depend on their order."""
    return statement.queries[query].aggregate in EXACT or not pa.types.is_floating(statement.types[query])


def audited_statements(catalog: Catalog, stream: str, storage: Storage, manifest: Manifest) -> list[EvaluatedStatement]:
    """Return the statements of a stream that are being evaluated and can be checked, by id."""
    retained = load_retained(storage, manifest.standing)
    ids = sorted(dict.fromkeys(catalog.of_stream(stream).statements.to_pylist()))
    answered = (_find_answered(catalog, id, manifest, retained) for id in ids)
    by_sql = bool(catalog.streams[stream].sql)
    return [
        statement
        for statement in answered
        if statement is not None and not (statement.window.rows and _is_lost(statement, manifest, by_sql))
    ]


def _find_answered(
    catalog: Catalog, id: str, manifest: Manifest, retained: RetainedSlices
) -> EvaluatedStatement | None:
    """Return a statement with the time after which all its queries are answered; None when some of them are not."""
    statement = evaluated_statement(catalog, id, manifest.types)
    if statement is None or not set(statement.labels.values()) <= retained.answered_after.keys():
        return None
    return replace(statement, after=max(retained.answered_after[label] for label in statement.labels.values()))


def _is_lost(statement: EvaluatedStatement, manifest: Manifest, by_sql: bool) -> bool:
    """Return whether nothing tells any more which number an event had: its place in a file, or whether it was late."""
    return by_sql or (
        statement.after > BEGINNING and not manifest.backfill and not has_all_marks(manifest.marks, manifest.batch)
    )


def by_grouping(statements: Iterable[EvaluatedStatement]) -> dict[str, list[EvaluatedStatement]]:
    """Sort statements by the files that hold their answers."""
    groups: dict[str, list[EvaluatedStatement]] = {}
    for statement in statements:
        groups.setdefault(statement.grouping, []).append(statement)
    return groups
