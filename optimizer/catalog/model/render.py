"""Statements as SQL again: as the user may write them, and as plain Spark runs them (the oracle)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.query import Column, Query
from optimizer.catalog.sql.durations import print_duration
from optimizer.catalog.sql.expressions import columns_read, free_name, quote
from optimizer.windows.window import Window


def oracle_sql(queries: Mapping[str, Query], columns: tuple[Column, ...], time: str, ties: str = "") -> str:
    """Return a statement as plain Spark SQL over the stream's name: the oracle of its answers.

    Where its windows are in rows, a column may break the ties of events at the same time."""
    return _select(queries, columns, time, lambda query: oracle_aggregate(query, time), ties)


def script_sql(queries: Mapping[str, Query], columns: tuple[Column, ...], time: str) -> str:
    """Return the oracle's SQL for a table with any other columns: one that is called `window` is not in its way."""
    name = written_window(next(iter(queries.values())), {"window", *columns_of_statement(queries.values(), time)}, time)
    return _select(queries, columns, time, lambda query: oracle_aggregate(query, time), name=name)


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


def columns_of_statement(queries: Iterable[Query], time: str) -> set[str]:
    """Return the columns of the events that a statement reads; in any of their spellings, which are one to Spark."""
    texts = [text for query in queries for text in (*query.arguments, query.where) if text not in ("", "*")]
    keys = (key for query in queries for key in query.group_by)
    names = {time, *keys}.union(*map(columns_read, texts))
    return set({name.lower(): name for name in sorted(names)}.values())


def window_name(queries: Collection[Query], time: str) -> str:
    """Return what a statement's SQL calls its window: `window`, unless it reads a column of that name."""
    read = {name.lower() for name in columns_of_statement(queries, time)}
    return written_window(next(iter(queries)), read, time) if "window" in read else "window"


def written_window(query: Query, columns: Collection[str], time: str) -> str:
    """Return a window as the SQL writes it beside columns of these names: by a free name, or whole."""
    if query.window.rows:
        return free_name("window", {name.lower() for name in columns})
    return window_call(query.window, time)


def _select(
    queries: Mapping[str, Query],
    columns: tuple[Column, ...],
    time: str,
    aggregate: Callable[[Query], str],
    ties: str = "",
    name: str = "",
) -> str:
    query, name = next(iter(queries.values())), name or window_name(queries.values(), time)
    selected = ", ".join(_column(column, queries, name, aggregate) for column in columns)
    source = quote(query.stream) + (f" WHERE {query.where}" if query.where else "")
    window = window_call(query.window, time)
    if query.window.rows:
        used = {column.lower() for column in columns_of_statement(queries.values(), time)}
        source, window = f"({_in_rows(query, source, time, ties, used, name)})", name
    return f"SELECT {selected} FROM {source} GROUP BY {', '.join([*map(quote, query.group_by), window])}"


def _in_rows(query: Query, source: str, time: str, ties: str, used: Collection[str], window: str) -> str:
    """Repeat every event for each full window of rows that holds it; a key's rows are numbered from 0 in event time."""
    size, slide, offset = query.window.range, query.window.slide, query.window.offset
    row, rows, place = (free_name(name, used) for name in ("_row", "_rows", "_k"))
    keys = ", ".join(map(quote, query.group_by))
    timed = f"(SELECT * FROM {source}) WHERE {quote(time)} IS NOT NULL"
    part = f"PARTITION BY {keys}" if keys else ""
    order = f"{part} ORDER BY {', '.join(map(quote, filter(None, (time, ties))))}".strip()
    numbered = f"SELECT *, row_number() OVER ({order}) - 1 AS {row}, count(*) OVER ({part}) AS {rows} FROM {timed}"
    first, last = f"floor(({row} - {offset + size}) / {slide}) + 1", f"floor(({row} - {offset}) / {slide})"
    start = f"{place} * {slide} + {offset}"
    return (
        f"SELECT *, named_struct('start', {start}, 'end', {start} + {size}) AS {window} "
        f"FROM (SELECT *, explode(sequence({first}, {last})) AS {place} FROM ({numbered})) "
        f"WHERE {start} + {size} <= {rows}"
    )


def _column(column: Column, queries: Mapping[str, Query], window: str, aggregate: Callable[[Query], str]) -> str:
    if column.kind == "answer":
        source = aggregate(queries[column.source])
    elif column.kind == "window":
        source = window + column.source.removeprefix("window")
    else:
        source = quote(column.source)
    return source if source == quote(column.name) else f"{source} AS {quote(column.name)}"
