"""Queries that a Python program writes down: a catalog without a folder, over one table of events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Stream
from optimizer.catalog.read.draft import Draft, at_line
from optimizer.catalog.read.entries import add_query_entry
from optimizer.catalog.read.statements import Parsed
from optimizer.catalog.sql.expressions import column_name
from optimizer.errors import HeddleError, Mistake, show

EVENTS = "events"  # the table's name where no query names it
IN_MEMORY = "memory"  # the format of such a stream
FIELDS = {"sql", "select"}  # a mapping with one of them is a query, others hold queries
Queries = Mapping[str, Any] | Sequence[Any] | str


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
    named = time or next((statement.time for statement in statements if statement.time), "")
    if not named and statements:
        raise HeddleError("no query names the time column; give it as time=")
    try:
        return column_name(named or EVENTS)  # where every query is refused, for reasons of its own
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
