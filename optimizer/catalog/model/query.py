"""What a catalog holds once it is understood: streams, queries, their statements, and what a user expects of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from optimizer.catalog.sql.durations import print_duration
from optimizer.windows.window import Window

CRITICAL, WARNING = "critical", "warning"
UTC = "UTC"
TABLE_FORMATS = ("delta", "iceberg", "kafka")  # whose own log says which files they have


@dataclass(frozen=True)
class Expectation:
    """One entry of `expect`: a kind, what it is about, and its bounds.

    >>> Expectation("range", "x", 0, None).text, Expectation("freshness", high=60_000_000, severity=WARNING).text
    ('x is 0 or more', 'the newest event is at most 1 minute old')
    """

    kind: str  # nulls, range, set, volume, freshness; of a query range, change
    column: str = ""  # of the events, or of the result: empty stands for every aggregate
    low: float | None = None
    high: float | None = None
    values: tuple[str, ...] = ()  # as Spark writes them
    severity: str = CRITICAL  # keeps a batch from being published; a warning is told and keeps nothing

    @property
    def text(self) -> str:
        """The expectation as a sentence."""
        what = self.column or "an answer"
        if self.kind == "nulls":
            return f"{what} is null in at most {self.high:.4g} of the events"
        if self.kind == "set":
            return f"{what} is one of {', '.join(map(str, self.values))}"
        if self.kind == "freshness":
            return f"the newest event is at most {print_duration(int(self.high or 0))} old"
        if self.kind == "change":
            return f"{what} differs by at most {self.high:.4g} of itself from the window before"
        return f"{'the events of a batch are' if self.kind == 'volume' else f'{what} is'} {self._span()}"

    def _span(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.low:.12g} or more" if self.low is not None else f"{self.high:.12g} or less"
        return f"{self.low:.12g} to {self.high:.12g}"

    def to_entry(self) -> dict[str, Any]:
        """Return the entry as YAML has it."""
        entry: dict[str, Any] = {"column": self.column} if self.column else {}
        if self.kind in ("range", "volume"):
            entry[self.kind] = [bound if bound is None else f"{bound:.12g}" for bound in (self.low, self.high)]
        elif self.kind == "set":
            entry["set"] = list(self.values)
        else:
            entry[self.kind] = print_duration(int(self.high or 0)) if self.kind == "freshness" else f"{self.high:.12g}"
        return entry | ({} if self.severity == CRITICAL else {"severity": self.severity})


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
