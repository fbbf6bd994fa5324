"""A catalog as text again: whatever is printed here loads as the same catalog."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from optimizer.catalog.model.catalog import Catalog, default_columns
from optimizer.catalog.model.query import Column, Query, Stream, Table
from optimizer.catalog.model.render import user_aggregate, user_sql
from optimizer.catalog.read.selects import parse_selected
from optimizer.catalog.sql.durations import print_duration, print_length
from optimizer.catalog.sql.expressions import quote

Entry = dict[str, Any]


def print_catalog(catalog: Catalog) -> dict[str, str]:
    """Return the catalog's files: names and texts."""
    streams = {name: print_stream(stream) for name, stream in sorted(catalog.streams.items())}
    tables = {name: {"source": _source(table)} for name, table in sorted(catalog.tables.items())}
    files = {"streams.yaml": dump({"streams": streams} | ({"tables": tables} if tables else {}))}
    queries = list(print_queries(catalog))
    return files | ({"queries.yaml": dump({"queries": queries})} if queries else {})


def dump(content: Any) -> str:
    """Return YAML that a person can read."""
    text: str = yaml.dump(content, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=120)
    return text


def print_stream(stream: Stream) -> Entry:
    """Return a stream's YAML entry."""
    source = {"sql": stream.sql} if stream.sql else _source(stream)
    return {"source": source, "time": quote(stream.time), "lateness": print_duration(stream.lateness)}


def _source(source: Stream | Table) -> Entry:
    options = {"options": dict(source.options)} if source.options else {}
    return {"format": source.format, "path": source.written, **options}


def print_queries(catalog: Catalog) -> Iterator[Entry]:
    """Yield the YAML entry of every statement."""
    members: dict[str, dict[str, Query]] = {}
    for query in catalog.queries:
        members.setdefault(query.statement, {})[query.id] = query
    for statement, queries in members.items():
        yield print_statement(catalog, statement, queries)


def print_statement(catalog: Catalog, statement: str, queries: dict[str, Query]) -> Entry:
    """Return one statement's entry: in fields where its columns allow it, else in SQL."""
    query = next(iter(queries.values()))
    columns = catalog.columns.get(statement)
    if columns is None:
        columns = default_columns(catalog.queries.shape(catalog.rows[statement]), statement)
    keys = tuple(Column(key, key) for key in (*query.group_by, "window"))
    if columns[: len(keys)] != keys or {column.source for column in columns[len(keys) :]} != set(queries):
        return {"id": statement, "sql": user_sql(queries, columns, catalog.streams[query.stream].time)}
    selected = [_selected(queries[column.source], column.name) for column in columns[len(keys) :]]
    return _fields(statement, query, selected)


def _selected(query: Query, name: str) -> str:
    text = user_aggregate(query)
    return text if parse_selected(text).name == name else f"{text} AS {quote(name)}"


def _fields(statement: str, query: Query, selected: list[str]) -> Entry:
    window = query.window
    entry: Entry = {"id": statement, "stream": query.stream, "select": selected[0] if len(selected) == 1 else selected}
    if query.where:
        entry["where"] = query.where
    if query.group_by:
        entry["group_by"] = [quote(key) for key in query.group_by]
    entry |= {"range": print_length(window.range, window.rows), "slide": print_length(window.slide, window.rows)}
    return entry | ({"offset": print_length(window.offset, window.rows)} if window.offset else {})
