"""A catalog, or every problem of it at once: from a folder, or from queries that a Python program writes down.

Against its events it is checked as well: every column exists, every aggregate gets what it can add up.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query, Stream
from optimizer.catalog.read.bulk import read_bulk
from optimizer.catalog.read.draft import REPORTED, Draft, at_line
from optimizer.catalog.read.entries import add_query_entry, add_sql, add_yaml
from optimizer.catalog.read.expect import FIELD
from optimizer.catalog.read.statements import Parsed
from optimizer.catalog.spark_types.parquet import Schema, Unread, check_time, read_schema
from optimizer.catalog.spark_types.results import condition_type, result_type, unknown_column
from optimizer.catalog.sql.expressions import column_name
from optimizer.errors import CatalogError, HeddleError, Mistake, Problem, in_field, show
from optimizer.windows.window import Window

READERS: dict[str, Callable[[Draft, Path], None]] = {
    ".yaml": add_yaml,
    ".yml": add_yaml,
    ".sql": add_sql,
    ".parquet": read_bulk,
    ".csv": read_bulk,
}
EVENTS = "events"  # the table's name where no query names it
IN_MEMORY = "memory"  # the format of such a stream
FIELDS = {"sql", "select"}  # a mapping with one of them is a query, others hold queries
Queries = Mapping[str, Any] | Sequence[Any] | str


def load_catalog(path: str | os.PathLike[str]) -> Catalog:
    """Read a catalog folder; raise CatalogError with all its problems, one line each."""
    return read_folder(Path(path)).finish()


def read_folder(folder: Path) -> Draft:
    """Read all files of a catalog folder, without judging them as a whole."""
    draft = Draft(folder)
    for file in catalog_files(folder):
        draft.guard(file, READERS[file.suffix])
    return draft


def catalog_files(folder: Path) -> list[Path]:
    """Return the catalog's files: streams first, since queries name them."""
    try:
        files = [file for file in folder.iterdir() if file.suffix in READERS and not file.name.startswith(".")]
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise CatalogError([Problem(str(folder), 0, "", "", reason, "name a catalog folder")]) from None
    if not files:
        right = f"put {', '.join(READERS)} files into it"
        raise CatalogError([Problem(str(folder), 0, "", "", f"{show(folder.name)} has no catalog files", right)])
    return sorted(files, key=lambda file: (list(READERS).index(file.suffix), file.name))


def inline_catalog(queries: Queries, time: str = "") -> Catalog:
    """Return the catalog of queries that are texts of SQL or mappings of fields; raise CatalogError with all problems.

    A mapping of queries names them by its keys, a list by their ids, or q1, q2 ... by their places; one query may come
    alone.

    >>> catalog = inline_catalog("SELECT window, max(x) FROM t GROUP BY window(ts, '1 minute')")
    >>> [query.id for query in catalog.queries], catalog.streams["t"].time
    (['q1'], 'ts')
    """
    draft = Draft(Path())
    for number, entry in enumerate(_entries(queries), start=1):
        add_query_entry(draft, entry, at_line("queries", number))
    parsed = [parsed for _, parsed, _ in draft.pending]
    if not parsed and not draft.problems:
        raise HeddleError(
            "there is no query; write one as in SELECT window, max(x) FROM t GROUP BY window(ts, '1 hour')"
        )
    names = list(dict.fromkeys(statement.stream for statement in parsed if statement.stream != EVENTS)) or [EVENTS]
    if len(names) > 1:
        raise HeddleError(f"the queries read FROM {' and '.join(map(show, names))}; there is one table of events")
    draft.pending = [(id, replace(statement, stream=names[0]), origin) for id, statement, origin in draft.pending]
    draft.streams[names[0]] = Stream(names[0], _time_column(time, parsed), 0, IN_MEMORY)
    return draft.finish()


def _time_column(time: str, statements: Sequence[Parsed]) -> str:
    if not time and statements:
        named = next((statement.time for statement in statements if statement.time), "")
        if not named:
            raise HeddleError("no query names the time column; give it as time=")
        return named  # as SQL has it: a name, and no text that names a column
    try:
        return column_name(time or EVENTS)  # where every query is refused, for reasons of its own
    except Mistake as mistake:
        raise HeddleError(f"time: {mistake.wrong}; {mistake.right}") from None


def _entries(queries: Queries) -> Iterator[Any]:
    """Yield the queries as entries of a YAML file would be."""
    if isinstance(queries, str) or (isinstance(queries, Mapping) and FIELDS & queries.keys()):
        queries = [queries]
    named = queries.items() if isinstance(queries, Mapping) else [("", query) for query in queries]
    for number, (name, query) in enumerate(named, start=1):
        if isinstance(query, str):
            yield {"id": name or f"q{number}", "sql": query}
        elif isinstance(query, Mapping):
            entry = dict(query)
            entry.setdefault("id", name or f"q{number}")
            if "sql" not in entry:
                entry.setdefault("stream", EVENTS)
            yield entry
        else:
            yield query


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
