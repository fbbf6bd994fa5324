"""What is audited: the statements of a stream, with what tells their answers apart."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from jobs.engine.program.clock import BEGINNING
from jobs.engine.program.definition import aligned, answer_type, label_of, typed_by
from jobs.engine.program.program import ALL
from jobs.engine.program.spark_types import type_named
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.marks import all_marked
from jobs.engine.warehouse.retained import Standing, load_standing
from jobs.host.storage import Storage
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query, Statement
from optimizer.windows.window import Window

EXACT = {
    "count",
    "min",
    "max",
    "range",
    "bool_and",
    "bool_or",
    "bit_and",
    "bit_or",
    "first",
    "last",
    "argmin",
    "argmax",
}


@dataclass(frozen=True)
class Asked:
    """One statement: its queries have the same window and keys, hence the same rows."""

    statement: Statement
    queries: dict[str, Query]
    types: dict[str, pa.DataType]  # of its keys and of its queries' answers
    after: int = BEGINNING  # the windows that end after it are answered

    @cached_property
    def first(self) -> Query:
        """Any of its queries, where all are alike."""
        return next(iter(self.queries.values()))

    @property
    def window(self) -> Window:
        """The window of all its queries, its offset less than a slide."""
        return aligned(self.first.window)

    @property
    def grouping(self) -> str:
        """What manifests call its group-by columns."""
        return ",".join(self.first.group_by or (ALL,))

    @cached_property
    def labels(self) -> dict[str, str]:
        """What result files call each query."""
        return {id: label_of(query) for id, query in self.queries.items()}

    def exact(self, query: str) -> bool:
        """Whether its answers equal Spark's to the last bit; sums of floats depend on the order of addition."""
        return self.queries[query].aggregate in EXACT or not pa.types.is_floating(self.types[query])


def asked_of(catalog: Catalog, stream: str, storage: Storage, manifest: Manifest) -> list[Asked]:
    """The statements of a stream that are being evaluated, by id."""
    standing = load_standing(storage, manifest.standing)
    known = {name: type_named(text) for name, text in manifest.types.items()}
    statements = dict.fromkeys(catalog.of_stream(stream).statements.to_pylist())
    found = (_asked(catalog, statement, known, standing) for statement in sorted(statements))
    by_sql = bool(catalog.streams[stream].sql)
    return [each for each in found if each is not None and not (each.window.rows and _lost(each, manifest, by_sql))]


def _lost(asked: Asked, manifest: Manifest, by_sql: bool) -> bool:
    """Whether nothing tells any more which number an event had: its place in a file, or whether it was late."""
    return by_sql or (
        asked.after > BEGINNING and not manifest.backfill and not all_marked(manifest.marks, manifest.batch)
    )


def _asked(catalog: Catalog, id: str, known: dict[str, pa.DataType], standing: Standing) -> Asked | None:
    statement = catalog.statements[id]
    members = [catalog.query(c.source) for c in statement.columns if c.source in catalog.rows]
    queries = {query.id: query for query in members if query.statement == id}
    if not all(_needed(query, known) <= known.keys() for query in queries.values()):
        return None
    labels = {label_of(query) for query in queries.values()}
    if not labels <= standing.asked.keys():
        return None
    keys = {key: known[key] for query in queries.values() for key in query.group_by}
    types = keys | {id: answer_type(query, known) for id, query in queries.items()}
    return Asked(statement, queries, types, max(standing.asked[label] for label in labels))


def _needed(query: Query, known: Container[str]) -> set[str]:
    return {*query.group_by, *typed_by(query, known)}


def groupings(asked: Iterable[Asked]) -> dict[str, list[Asked]]:
    """The statements by the files that hold their answers."""
    found: dict[str, list[Asked]] = {}
    for each in asked:
        found.setdefault(each.grouping, []).append(each)
    return found
