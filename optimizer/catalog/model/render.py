"""Statements as SQL again: as the user may write them, and as plain Spark runs them (the oracle)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.query import Column, Query
from optimizer.catalog.sql.durations import print_duration
from optimizer.catalog.sql.expressions import quote
from optimizer.windows.window import Window


def oracle_sql(queries: Mapping[str, Query], columns: tuple[Column, ...], time: str) -> str:
    """Return a statement as plain Spark SQL over the stream's name: the oracle of its answers."""
    return _select(queries, columns, time, lambda query: oracle_aggregate(query, time))


def user_sql(queries: Mapping[str, Query], columns: tuple[Column, ...], time: str) -> str:
    """Return a statement as a catalog writes it: loading this text gives the same statement."""
    return _select(queries, columns, time, user_aggregate)


def oracle_aggregate(query: Query, time: str) -> str:
    """Return the aggregate in Spark's own functions."""
    aggregate = AGGREGATES[query.aggregate]
    x, y = (*(f"({a})" if " " in a else a for a in query.arguments), aggregate.default)[:2]
    return aggregate.spark.format(x=x, y=y, ts=quote(time), arguments=", ".join(query.arguments))


def user_aggregate(query: Query) -> str:
    """Return the aggregate under the catalog's own name."""
    return f"{query.aggregate}({', '.join(query.arguments)})"


def window_call(window: Window, time: str) -> str:
    """Return Spark's window(time, range, slide, offset), as short as it can be.

    >>> window_call(Window(60_000_000, 10_000_000), "ts")
    "window(ts, '1 minute', '10 seconds')"
    >>> window_call(Window(60_000_000, 60_000_000), "ts")
    "window(ts, '1 minute')"
    """
    lengths = [window.range, window.slide, window.offset]
    while len(lengths) > 1 and lengths[-1] == (0 if len(lengths) == 3 else window.range):
        lengths.pop()
    return f"window({', '.join([quote(time), *(repr(print_duration(ticks)) for ticks in lengths)])})"


def _select(
    queries: Mapping[str, Query], columns: tuple[Column, ...], time: str, aggregate: Callable[[Query], str]
) -> str:
    query = next(iter(queries.values()))
    selected = ", ".join(_column(column, queries, aggregate) for column in columns)
    source = quote(query.stream) + (f" WHERE {query.where}" if query.where else "")
    window = window_call(query.window, time)
    if query.window.rows:
        source, window = f"({_in_rows(query, source, time)})", "window"
    return f"SELECT {selected} FROM {source} GROUP BY {', '.join([*map(quote, query.group_by), window])}"


def _in_rows(query: Query, source: str, time: str) -> str:
    """Repeat every event for each full window of rows that holds it; a key's rows are numbered from 0 in event time."""
    size, slide, offset = query.window.range, query.window.slide, query.window.offset
    keys = ", ".join(map(quote, query.group_by))
    timed = f"(SELECT * FROM {source}) WHERE {quote(time)} IS NOT NULL"
    part = f"PARTITION BY {keys}" if keys else ""
    order = f"{part} ORDER BY {quote(time)}".strip()
    numbered = f"SELECT *, row_number() OVER ({order}) - 1 AS _row, count(*) OVER ({part}) AS _rows FROM {timed}"
    first, last = f"floor((_row - {offset + size}) / {slide}) + 1", f"floor((_row - {offset}) / {slide})"
    start = f"_k * {slide} + {offset}"
    return (
        f"SELECT *, named_struct('start', {start}, 'end', {start} + {size}) AS window "
        f"FROM (SELECT *, explode(sequence({first}, {last})) AS _k FROM ({numbered})) "
        f"WHERE {start} + {size} <= _rows"
    )


def _column(column: Column, queries: Mapping[str, Query], aggregate: Callable[[Query], str]) -> str:
    if column.source in queries:
        source = aggregate(queries[column.source])
    elif column.source in ("window", "window.start", "window.end"):
        source = column.source
    else:
        source = quote(column.source)
    return source if source == quote(column.name) else f"{source} AS {quote(column.name)}"
