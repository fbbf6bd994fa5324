"""A catalog checked against its events: every column exists, every aggregate gets what it can add up."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query
from optimizer.catalog.read.draft import REPORTED, Draft
from optimizer.catalog.read.expect import FIELD
from optimizer.catalog.read.load import read_folder
from optimizer.catalog.spark_types.parquet import Schema, Unread, check_time, read_schema
from optimizer.catalog.spark_types.results import condition_type, result_type, unknown_column
from optimizer.errors import CatalogError, Mistake, in_field
from optimizer.windows.window import Window


@dataclass(frozen=True)
class Report:
    """A catalog without mistakes, and the streams whose columns could not be checked, with the reason."""

    catalog: Catalog
    unread: dict[str, str]


def check_catalog(path: str | os.PathLike[str]) -> Report:
    """Load a catalog and check it against its events; raise CatalogError with all problems."""
    draft = read_folder(Path(path))
    catalog = draft.finish()
    schemas: dict[str, Schema] = {}
    unread: dict[str, str] = {}
    for name, stream in catalog.streams.items():
        try:
            schemas[name] = read_schema(stream)
            check_time(stream, schemas[name])
            for expectation in stream.expect:
                if expectation.column and expectation.column not in schemas[name]:
                    raise in_expect(expectation.column, schemas[name])
        except Unread as reason:
            unread[name] = str(reason)
        except Mistake as mistake:
            draft.refuse(draft.places[name], name, mistake, "time")
    _check_shapes(draft, catalog, schemas)
    if draft.problems:
        raise CatalogError(draft.problems)
    return Report(catalog, unread)


def in_expect(column: str, schema: Schema) -> Mistake:
    """Return the mistake of expecting something of a column that the events do not have."""
    mistake = unknown_column(column, schema)
    return Mistake(mistake.wrong, mistake.right, FIELD)


def _check_shapes(draft: Draft, catalog: Catalog, schemas: dict[str, Schema]) -> None:
    table = catalog.queries
    for code, (stream, aggregate, arguments, where, group_by, _) in enumerate(table.shapes):
        if stream not in schemas:
            continue
        query = Query("", stream, aggregate, arguments, Window(1, 1), where, group_by, "")
        for mistake in query_mistakes(query, schemas[stream]):
            for row in np.flatnonzero(table.codes == code)[:REPORTED].tolist():
                draft.refuse(draft.origin(row), table.statements[row].as_py(), mistake)


def query_mistakes(query: Query, schema: Schema) -> list[Mistake]:
    """Return the mistakes of a query that the events cannot answer."""
    mistakes = []
    for field, check in (
        ("select", lambda: result_type(query, schema)),
        ("where", lambda: condition_type(query.where, schema) if query.where else None),
        ("group_by", lambda: _check_keys(query, schema)),
    ):
        try:
            in_field(field, lambda text, check=check: check(), "")  # type: ignore[misc]
        except Mistake as mistake:
            mistakes.append(mistake)
    return mistakes


def _check_keys(query: Query, schema: Schema) -> None:
    for key in query.group_by:
        if key not in schema:
            raise unknown_column(key, schema)
