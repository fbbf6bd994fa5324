"""Statements of a catalog that a warehouse has evaluated: their types, and the published files that hold their answers.

Readers of results and the audit look at the same `EvaluatedStatement`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import pyarrow as pa

from jobs.engine.program.program import grouping_name
from jobs.engine.program.queries import align, answer_type, label_of, typed_by
from jobs.engine.program.spark_types import INSTANT, parse_type
from jobs.engine.warehouse.ledger import newest_ledger
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import DataFile, newest
from jobs.host.storage import Storage
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query, Statement
from optimizer.catalog.sql.expressions import quote
from optimizer.errors import HeddleError, did_you_mean
from optimizer.windows.window import BEGINNING, Window


@dataclass(frozen=True)
class EvaluatedStatement:
    """A statement with the types of its columns. Its queries have the same window and keys, hence the same rows."""

    statement: Statement
    queries: dict[str, Query]
    types: dict[str, pa.DataType]  # of the answers, by the query's id
    key_types: dict[str, pa.DataType]  # by group-by column
    instant: pa.DataType = INSTANT  # of a window's start and end: zoned as the stream's time is, or a row's number
    after: int = BEGINNING  # the windows that end after it are answered

    @cached_property
    def first(self) -> Query:
        """The first of its queries, to read what all of them have in common."""
        return next(iter(self.queries.values()))

    @property
    def keys(self) -> tuple[str, ...]:
        """The group-by columns."""
        return self.first.group_by

    @property
    def window(self) -> Window:
        """The window of all its queries, its offset less than a slide."""
        return align(self.first.window)

    @property
    def grouping(self) -> str:
        """The name of its group-by columns in manifests."""
        return grouping_name(self.keys)

    @cached_property
    def labels(self) -> dict[str, str]:
        """The label of each query in result files, by the query's id."""
        return {id: label_of(query) for id, query in self.queries.items()}


class PublishedFiles(NamedTuple):
    """A statement, and the published files that hold its answers (and those of other statements)."""

    statement: EvaluatedStatement
    storage: Storage
    files: tuple[DataFile, ...]


def evaluated_statement(catalog: Catalog, id: str, types: Mapping[str, str]) -> EvaluatedStatement | None:
    """Return a statement with its types, read from the types of a manifest; None when some of them are not there."""
    statement = catalog.statements[id]
    queries = _queries_of(catalog, statement)
    first = next(iter(queries.values()))
    columns = {name: _type_of_column(types, name) for name in (catalog.streams[first.stream].time, *first.group_by)}
    needed = {sql for query in queries.values() for sql in typed_by(query, types)}
    if not needed <= types.keys() or not all(columns.values()):
        return None
    parsed = {sql: parse_type(types[sql]) for sql in needed}
    keys = {key: parse_type(columns[key]) for key in first.group_by}
    answers = {id: answer_type(query, parsed) for id, query in queries.items()}
    zone = parse_type(columns[catalog.streams[first.stream].time]).tz and "UTC"
    instant = pa.int64() if first.window.rows else pa.timestamp("us", zone)
    return EvaluatedStatement(statement, queries, answers, keys, instant)


def _type_of_column(types: Mapping[str, str], name: str) -> str:
    """Return the type of a column, which an older manifest has under the bare name; "" where it has none."""
    return types.get(quote(name), "") or types.get(name, "")


def _queries_of(catalog: Catalog, statement: Statement) -> dict[str, Query]:
    return {column.source: catalog.query(column.source) for column in statement.columns if column.kind == "answer"}


def published_files(warehouse: str, catalog: Catalog, query: str) -> PublishedFiles:
    """Return what has been published of a query, by its id or by the id of one of its aggregates."""
    id = statement_named(catalog, query)
    stream = next(iter(_queries_of(catalog, catalog.statements[id]).values())).stream
    storage = stream_storage(warehouse, stream)
    ledger = newest_ledger(storage)  # before the manifest: an entry may leave out files of older manifests
    manifest = newest(storage)
    statement = evaluated_statement(catalog, id, manifest.types)
    if manifest.sequence < 0 or statement is None:
        raise HeddleError(
            f"query {query} has not been evaluated in {warehouse} yet; "
            f"run heddle evaluate CATALOG --stream {stream} --warehouse {warehouse}"
        )
    files = tuple(file for file in ledger.public(manifest.results) if file.grouping == statement.grouping)
    return PublishedFiles(statement, storage, files)


def statement_named(catalog: Catalog, query: str) -> str:
    """Return the id of the statement that has this id, or that has this query as one of its aggregates."""
    if query in catalog.rows:
        return catalog.query(query).statement
    if query in catalog.columns:
        return query
    hint = did_you_mean(query, {*catalog.rows, *catalog.columns}, "`heddle catalog show` lists the queries")
    raise HeddleError(f"there is no query {query!r} in the catalog; {hint}")
