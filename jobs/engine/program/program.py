"""What the engine runs: a plan and its catalog, compiled into plain data that tasks can carry."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import pyarrow as pa

from jobs.engine.sources.contract import TableColumns
from jobs.kernels.arrays import Ints
from optimizer.algebra.aggregates import COMPONENTS
from optimizer.catalog.model.query import UTC
from optimizer.catalog.sql.expressions import columns_read, in_backquotes, quote
from optimizer.plan.definition import EVENTS
from optimizer.plan.levels import Level, level_of
from optimizer.windows.edges import Edges
from optimizer.windows.window import Window

TIME = "__time__"  # of the table of inputs, whose other columns are keys and the program's own inputs
NO_KEY = "key __all__"  # the one key column of a query without group-by
SIGNATURE = "key __signature__"  # the column beside the group-by columns of a shard
ALL = "__all__"  # how manifests call the grouping of queries without group-by
# "ranked": by their order among the others; "decimal" and "high": the low and the high word of a number without a point
Coding = Literal["int64", "float64", "ranked", "decimal", "high"]
Lane = Literal["file", "frame"]  # who reads the events: the tasks themselves, or Spark


def set_apart(name: str, internal: Collection[str]) -> str:
    """Return a user's name among internal ones: in backquotes where it would be one of them, or is in backquotes.

    >>> set_apart("device", ["batch"]), set_apart("batch", ["batch"]), set_apart("`batch`", ["batch"])
    ('device', '`batch`', '```batch```')
    """
    return in_backquotes(name) if name.lower() in internal or name.startswith("`") else name


def key_column(name: str) -> str:
    """Name the column of inputs, slices, state files and result files that holds the values of a group-by column.

    >>> key_column("device"), key_column("__all__")
    ('key device', 'key `__all__`')
    """
    return f"key {set_apart(name, (ALL, '__signature__'))}"


def key_columns(keys: Iterable[str]) -> tuple[str, ...]:
    """Name the columns of some group-by columns; without any, there is one that is null."""
    return tuple(map(key_column, keys)) or (NO_KEY,)


def grouping_name(keys: Iterable[str]) -> str:
    """Name group-by columns in files and manifests: the same for the same columns only.

    >>> grouping_name(["a", "b"]), grouping_name(["a,b"]), grouping_name([]), grouping_name(["__all__"])
    ('a,b', '`a,b`', '__all__', '`__all__`')
    """
    parts = (in_backquotes(key) if "," in key or "|" in key else set_apart(key, (ALL,)) for key in keys)
    return ",".join(parts) or ALL


@dataclass(frozen=True)
class Input:
    """A column that events bring into the fold: an expression, evaluated once per event."""

    name: str
    sql: str


@dataclass(frozen=True)
class MeasureProgram:
    """How one measure is folded. `order` is the input compared or added up, `payload` the input carried along."""

    key: str
    component: str
    op: int
    coding: Coding
    order: str  # "" for count(*)
    payload: str  # "" unless the answer is another input's value (argmax, first)
    where: str  # the predicate's input, "" when every event counts
    second: str = ""  # the other input of pairs
    deviation: float = 0.0  # of registers: the relative standard deviation that an estimate may have

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs of its values."""
        return tuple(name for name in (self.order, self.payload, self.second) if name)

    @property
    def tally(self) -> tuple[str, ...]:
        """The columns of its tally, where it has one: the values of every slice, and a number for each."""
        return (f"values {self.key}", f"numbers {self.key}") if COMPONENTS[self.component].tally else ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that travel beside the rows."""
        return (*self.carries, *self.tally)

    @property
    def carries(self) -> dict[str, str]:
        """The columns that travel beside the rows, by name, and the input each is made from."""
        carried = {"order": self.order} if self.coding == "ranked" else {}
        if self.payload:
            carried["payload"] = self.payload
        return {f"{label} {self.key}": source for label, source in carried.items()}


@dataclass(frozen=True)
class QueryProgram:
    """How one query is finished: its window, the measures it reads, and the type of its answers."""

    id: str
    window: Window
    aggregate: str
    measures: tuple[str, ...]
    where: str  # the predicate's input, "" when every event counts
    passing: str  # the measure that counts the events passing the predicate; "" when all do
    type: pa.DataType
    label: str  # what result files call it
    shares: tuple[float, ...] = ()  # of percentiles: the constants that they are asked for
    summed: pa.DataType | None = None  # where decimals are added: the type of Spark's sum, which may not leave it


@dataclass(frozen=True)
class TreeProgram:
    """One tree: its slices, what they hold, who feeds it, how far back windows reach, and the queries it answers."""

    id: str
    edges: Edges
    feed: str
    reach: int
    measures: tuple[MeasureProgram, ...]
    queries: tuple[QueryProgram, ...]
    techniques: dict[str, str]
    bits: tuple[Input, ...] = ()  # the predicates of its shards' signatures; () where each is evaluated separately
    bases: dict[str, MeasureProgram] = field(default_factory=dict)  # by measure: the same of all events, in shards
    rows: bool = False  # whether its clock counts the rows of a key
    where: str = ""  # the predicate's input of those rows, "" when every event is one
    rolled_from: str = ""  # the tree of a finer grouping whose partials feed it; its state is its own all the same
    lane: Lane = "file"
    kept_edges: Edges = ()  # by cutty, where slices are cut once the windows that end in them are out; () for `edges`
    windows: tuple[Window, ...] = ()  # of its queries and of those of the trees that it feeds
    levels: tuple[Level, ...] = ()  # of a tree that keeps state: its slices, and the chunks above them

    @cached_property
    def digest(self) -> str:
        """Names the edges and what a shard's signature means, whatever plan they are part of."""
        cut = (self.edges, [test.sql for test in self.bits], self.rows) if self.bits or self.rows else self.edges
        text = repr((cut, self.kept_edges) if self.kept_edges else cut)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @cached_property
    def window_columns(self) -> Ints:
        """Four rows: the range, the slide and the offset of every window, and the number of the level it starts at."""
        rows = [(window.range, window.slide, window.offset, level_of(self.levels, window)) for window in self.windows]
        return np.array(rows, np.int64).reshape(-1, 4).T

    @cached_property
    def partial_measures(self) -> tuple[MeasureProgram, ...]:
        """The measures of its partials: its own, or those that shards of all signatures have in common."""
        bases = {measure.key: measure for measure in self.bases.values()}
        return tuple(bases[key] for key in sorted(bases)) if self.bits else self.measures

    @cached_property
    def _by_key(self) -> dict[str, MeasureProgram]:
        return {measure.key: measure for measure in self.measures}

    def windows_of(self, key: str, aggregates: Collection[str]) -> list[Window]:
        """Return the windows of the queries that ask some aggregates of a measure, each once."""
        return sorted({q.window for q in self.queries if key in q.measures and q.aggregate in aggregates})

    def measure(self, key: str) -> MeasureProgram:
        """Return the measure with this key."""
        return self._by_key[key]


@dataclass(frozen=True)
class Unshared:
    """A query that plain Spark answers. The engine counts the windows that miss a late event, and shows its columns."""

    id: str
    label: str
    window: Window
    where: str  # the predicate's input, "" when every event counts
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Grouping:
    """The trees of all queries with the same group-by columns, every feeding tree before those it feeds."""

    keys: tuple[str, ...]
    types: tuple[pa.DataType, ...]
    trees: tuple[TreeProgram, ...]

    @property
    def name(self) -> str:
        """How files and manifests call it."""
        return grouping_name(self.keys)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that hold its keys in inputs, slices and state files."""
        return key_columns(self.keys)


@dataclass(frozen=True)
class Program:
    """All that a task needs of a stream's plan."""

    time: str
    values: tuple[Input, ...]
    predicates: tuple[Input, ...]
    groupings: tuple[Grouping, ...]
    lateness: int
    fingerprint: str
    types: dict[str, pa.DataType]  # of the time, the group-by columns and all expressions
    columns: dict[str, pa.DataType]  # of the first events; those of later files are brought into these types
    unshared: tuple[Unshared, ...] = ()
    zone: str = UTC  # in which clocks are read
    root: str = ""  # below which folders k=v are columns of their files; "" where none are
    corrections: int = 0  # how long after its end a window is corrected by late events
    table: TableColumns | None = None  # where a table's own schema says how its files hold the columns

    @property
    def columns_needed(self) -> list[str]:
        """The columns of the events that it reads."""
        keys = {name for grouping in self.groupings for name in grouping.keys}
        read = {name for item in (*self.values, *self.predicates) for name in columns_read(item.sql)}
        by_unshared = {name for query in self.unshared for name in query.columns}
        return sorted(keys | read | by_unshared | {self.time})

    @property
    def kept_types(self) -> dict[str, pa.DataType]:
        """The types that later runs go by: those of the expressions, and of the columns that they read."""
        columns = {quote(name): self.columns[name] for name in self.columns_needed if name in self.columns}
        return columns | self.types

    @property
    def in_rows(self) -> bool:
        """Whether some windows are measured in rows, so that the order of arrival matters."""
        return any(tree.rows for _, tree in self.roots())

    def wheres(self, value: str) -> set[str]:
        """Return the predicates under which a value is folded; "" where some measure takes it from every event."""
        return {measure.where for _, tree in self.roots() for measure in tree.measures if value in measure.inputs}

    def roots(self) -> Iterator[tuple[Grouping, TreeProgram]]:
        """Yield the trees that read raw events; they alone keep state."""
        for grouping in self.groupings:
            for tree in grouping.trees:
                if tree.feed == EVENTS:
                    yield grouping, tree
