"""What a catalog holds once it is understood: streams, queries and the statements they came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from optimizer.catalog.model.expectation import Expectation
from optimizer.windows.window import Window

UTC = "UTC"
TABLE_FORMATS = ("delta", "iceberg", "kafka")  # whose own log says which files they have


@dataclass(frozen=True)
class Sink:
    """Where published answers are wanted as tables, one per statement; it names credentials and never holds them."""

    name: str
    format: str  # a name in SINKS of jobs/sinks
    path: str = ""  # where it is, ready to write
    url: str = ""  # env:NAME or airflow:CONNECTION, which say where it is
    catalog: str = ""  # of Iceberg, by the name that pyiceberg's own configuration has for it
    namespace: str = ""
    written: str = ""  # the path as the catalog says it


@dataclass(frozen=True)
class Stream:
    """Where events come from: a source that Spark can read, or SQL over other streams and tables."""

    name: str
    time: str
    lateness: int  # microseconds
    format: str = "parquet"
    path: str = ""  # where it is, ready to read
    sql: str = ""
    options: dict[str, str] = field(default_factory=dict)
    written: str = ""  # the path as the catalog says it
    zone: str = UTC  # in which hour(), casts of times to text or date and their like are evaluated
    idle: int = 0  # microseconds behind the clock at which the watermark goes on without events; 0: it waits
    expect: tuple[Expectation, ...] = ()  # of its events, batch by batch
    sinks: tuple[Sink, ...] = ()
    corrections: int = 0  # microseconds after its end during which late events still correct a window; 0: none does

    @property
    def in_parquet(self) -> bool:
        """Whether the stream is Parquet files, which any process reads; all else takes Spark."""
        return (self.format == "parquet" or self.has_log) and bool(self.path) and not self.sql

    @property
    def has_log(self) -> bool:
        """Whether a table's own log says which Parquet files it has, so that nobody lists a folder."""
        return self.format in TABLE_FORMATS

    @property
    def in_spark(self) -> bool:
        """Whether the stream is a table of the catalog of Spark's session, which Spark alone lists and reads."""
        return self.format == "table"


@dataclass(frozen=True)
class Table:
    """A static table that the SQL of a stream may join."""

    name: str
    format: str
    path: str
    options: dict[str, str] = field(default_factory=dict)
    written: str = ""


@dataclass(frozen=True)
class Query:
    """One sliding-window aggregate (an ACQ). Expressions are canonical Spark SQL, printed from a checked tree."""

    id: str
    stream: str
    aggregate: str  # a name in AGGREGATES
    arguments: tuple[str, ...]  # ("*",) for count(*)
    window: Window
    where: str  # "" when every event counts
    group_by: tuple[str, ...]
    statement: str  # the user's query this is one aggregate of; equal to id when it has only one


ColumnKind = Literal["key", "window", "answer"]


@dataclass(frozen=True)
class Label:
    """Whose a statement is, and what it is about: for people and for costs, not for the plan."""

    owner: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """One column of a statement's result, in the order the user wrote them."""

    name: str  # the name the user's SQL gives it
    source: str  # a group-by column; "window", "window.start" or "window.end"; or the id of a Query
    kind: ColumnKind  # which of the three: a group-by column may be called as another is


@dataclass(frozen=True)
class Statement:
    """A query as the user wrote it: plain Spark SQL, and the columns its result has."""

    id: str
    sql: str  # canonical Spark SQL over the stream's name: the oracle of its answers, without HAVING
    columns: tuple[Column, ...]
    having: str = ""  # a condition over the columns: published rows that fail it are not shown
    alert: str = ""  # a condition over the columns: published rows that pass it raise an alert
