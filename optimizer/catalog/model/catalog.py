"""A catalog, understood: its streams, its queries, and the statements the queries came from.

Statements become SQL again: as the user may write them, and as plain Spark runs them (the oracle).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.query import UTC, Column, Expectation, Label, Query, Statement, Stream, Table
from optimizer.catalog.model.table import Int64s, QueryTable, Shape
from optimizer.catalog.sql.durations import print_duration
from optimizer.catalog.sql.expressions import columns_read, free_name, plain, quote
from optimizer.errors import HeddleError
from optimizer.windows.window import Window

WINDOW_COLUMN = Column("window", "window", "window")
LIST = "`heddle catalog show` lists them"


@dataclass(frozen=True, eq=False)
class Catalog:
    """Streams, queries and tables. Two catalogs are equal when their content is, however it is spread over files."""

    streams: Mapping[str, Stream]
    queries: QueryTable
    columns: Mapping[str, tuple[Column, ...]]  # of the statements that do not have the default columns
    tables: Mapping[str, Table] = field(default_factory=dict)
    labels: Mapping[str, Label] = field(default_factory=dict)  # of the statements that say whose they are
    having: Mapping[str, str] = field(default_factory=dict)  # conditions of the statements that have one
    expect: Mapping[str, tuple[Expectation, ...]] = field(default_factory=dict)  # of the answers to statements
    alerts: Mapping[str, str] = field(default_factory=dict)  # conditions of the statements that raise alerts

    @cached_property
    def statements(self) -> Mapping[str, Statement]:
        """The user's statements by id, made when someone reads them."""
        return Statements(self)

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of every query id in `queries`."""
        return {query: row for row, query in enumerate(self.queries.ids.to_pylist())}

    def query(self, query: str) -> Query:
        """Return the query of an id."""
        if query not in self.rows:
            raise HeddleError(f"{query}: the catalog has no such query; {LIST}")
        return self.queries[self.rows[query]]

    def stream_of(self, statement: str) -> str:
        """Return the stream that a statement is over, be it of one aggregate or of several."""
        row = self.queries.statements.index(statement).as_py()
        if row < 0:
            named = self.rows.get(statement)
            hint = f"it is an aggregate of {self.queries.statements[named]}" if named is not None else LIST
            raise HeddleError(f"{statement}: the catalog has no such query; {hint}")
        return self.queries.shape(row).stream

    def of_stream(self, stream: str) -> QueryTable:
        """Return the queries over one stream."""
        if stream not in self.streams:
            raise HeddleError(f"{stream}: the catalog has no such stream; it has {', '.join(self.streams)}")
        return self.queries.of_stream(stream)

    def unshared(self, stream: str) -> list[str]:
        """Return the ids of the queries over a stream that no tree can answer, as they have no partials."""
        table = self.of_stream(stream)
        shared = [AGGREGATES[shape.aggregate].shared for shape in table.shapes]
        return sorted(query for query, code in zip(table.ids.to_pylist(), table.codes, strict=True) if not shared[code])

    def windows_of(self, stream: str) -> tuple[Int64s, Int64s, Int64s]:
        """Return range, slide and offset of every query over a stream, in the order of `of_stream`."""
        windows = self.of_stream(stream).windows
        return windows.range, windows.slide, windows.offset

    def fingerprint(self, stream: str | None = None) -> str:
        """Return a hash of the content, of one stream or of all; files and their order do not matter."""
        queries = self.queries if stream is None else self.of_stream(stream)
        alone = stream is not None and not self.streams[stream].sql
        streams = [stream] if stream is not None and alone else sorted(self.streams)
        tables = [] if alone else sorted(self.tables)
        sources = [_identity(self.streams[name]) for name in streams]
        sources += [_identity(self.tables[name]) for name in tables]
        named = set(self.columns) if stream is None else set(queries.statements.to_pylist()) & set(self.columns)
        columns = [(name, *map(_fingerprint_of, self.columns[name])) for name in sorted(named)]
        published = self._published_fields() if stream is None else []
        return hashlib.sha256(repr((sources, columns, queries.digest(), *published)).encode()).hexdigest()

    def _published_fields(self) -> list[object]:
        """Return what concerns published answers alone: it changes no plan and no slice."""
        sinks = [(name, replace(sink, path="")) for name in sorted(self.streams) for sink in self.streams[name].sinks]
        alerts = [("alert", *alert) for alert in sorted(self.alerts.items())]
        return [*sorted(self.having.items()), *alerts, *sinks]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Catalog) and self.fingerprint() == other.fingerprint()

    def __hash__(self) -> int:
        return hash(self.fingerprint())


def _identity(source: Stream | Table) -> tuple[object, ...]:
    """Return a source as the catalog says it, not where it is on this machine."""
    if isinstance(source, Stream):
        zone = () if source.zone == UTC else (source.zone,)
        idle = (("idle", source.idle),) if source.idle else ()
        corrections = (("corrections", source.corrections),) if source.corrections else ()
        times: tuple[object, ...] = (*zone, *idle, *corrections)
        fields: tuple[object, ...] = (source.name, source.time, source.lateness, source.sql, *times)
    else:
        fields = (source.name,)
    return (*fields, source.format, source.written, tuple(sorted(source.options.items())))


def _fingerprint_of(column: Column) -> tuple[str, str]:
    """Return a column as the fingerprint has it; backquotes tell a key from an id, and from a part of the window."""
    is_plain = column.kind != "key" or plain(column.source)
    return column.name, column.source if is_plain else quote(column.source)


class Statements(Mapping[str, Statement]):
    """Statements by id, derived from the queries when someone reads them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def __getitem__(self, statement: str) -> Statement:
        """Return the statement of an id."""
        catalog = self._catalog
        columns = catalog.columns.get(statement)
        if columns is None:
            row = catalog.rows[statement]
            columns = default_columns(catalog.queries.shape(row), statement)
        members = {c.source: catalog.query(c.source) for c in columns if c.kind == "answer"}
        time = catalog.streams[next(iter(members.values())).stream].time
        having = catalog.having.get(statement, "")
        alert = catalog.alerts.get(statement, "")
        return Statement(statement, oracle_sql(members, columns, time), columns, having, alert)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self._catalog.queries.statements.to_pylist()))

    def __len__(self) -> int:
        return len(set(self._catalog.queries.statements.to_pylist()))


def default_columns(shape: Shape, query: str) -> tuple[Column, ...]:
    """Return the columns of a query whose columns nobody ordered or named: keys, window, aggregate."""
    return (*key_columns_of(shape.group_by), WINDOW_COLUMN, Column(shape.name, query, "answer"))


def key_columns_of(group_by: Iterable[str]) -> tuple[Column, ...]:
    """Return the columns that show group-by columns under their own names."""
    return tuple(Column(key, key, "key") for key in group_by)


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
