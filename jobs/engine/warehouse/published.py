"""What a warehouse holds of one statement: the files its newest manifest names, and how to make its columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from jobs.engine.program.definition import answer_type, label_of, typed_by
from jobs.engine.program.program import ALL
from jobs.engine.program.spark_types import type_named
from jobs.engine.warehouse.ledger import newest_ledger
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import DataFile, newest
from jobs.host.storage import Storage
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query, Statement
from optimizer.errors import HeddleError, did_you_mean
from optimizer.windows.window import Window


@dataclass(frozen=True)
class Published:
    """A statement's answers, not read yet. Its queries have the same window and keys, hence the same rows."""

    statement: Statement
    queries: dict[str, Query]
    storage: Storage
    files: tuple[DataFile, ...]
    types: dict[str, pa.DataType]  # of the group-by columns and of the queries' answers
    instant: pa.DataType  # of a window's start and end: zoned as the stream's time is, or the number of a row

    @property
    def keys(self) -> tuple[str, ...]:
        """The group-by columns."""
        return next(iter(self.queries.values())).group_by

    @property
    def window(self) -> Window:
        """The window of all its queries."""
        return next(iter(self.queries.values())).window

    @cached_property
    def labels(self) -> dict[str, str]:
        """What result files call each query."""
        return {id: label_of(query) for id, query in self.queries.items()}


def published(warehouse: str, catalog: Catalog, query: str) -> Published:
    """What has been published of a query, by its id or by the id of one of its aggregates."""
    statement = catalog.statements[statement_named(catalog, query)]
    queries = {c.source: catalog.query(c.source) for c in statement.columns if c.source in catalog.rows}
    queries = {id: found for id, found in queries.items() if found.statement == statement.id}
    first = next(iter(queries.values()))
    storage = stream_storage(warehouse, first.stream)
    ledger = newest_ledger(storage)
    manifest = newest(storage)
    time = catalog.streams[first.stream].time
    needed = {time, *first.group_by, *(name for each in queries.values() for name in typed_by(each, manifest.types))}
    if manifest.sequence < 0 or not needed <= manifest.types.keys():
        raise HeddleError(
            f"query {query} has not been evaluated in {warehouse} yet; "
            f"run heddle evaluate CATALOG --stream {first.stream} --warehouse {warehouse}"
        )
    known = {name: type_named(text) for name, text in manifest.types.items() if name in needed}
    types = {key: known[key] for key in first.group_by} | {id: answer_type(q, known) for id, q in queries.items()}
    grouping = ",".join(first.group_by or (ALL,))
    files = tuple(file for file in ledger.public(manifest.results) if file.grouping == grouping)
    instant = pa.int64() if first.window.rows else pa.timestamp("us", known[time].tz and "UTC")
    return Published(statement, queries, storage, files, types, instant)


def statement_named(catalog: Catalog, query: str) -> str:
    """The statement of this id, or the one that this query is an aggregate of."""
    if query in catalog.rows:
        return catalog.query(query).statement
    if query in catalog.columns:
        return query
    known = {*catalog.rows, *catalog.columns}
    hint = did_you_mean(query, known, "`heddle catalog show` lists the queries")
    raise HeddleError(f"there is no query {query!r} in the catalog; {hint}")
