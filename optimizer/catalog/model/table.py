"""Queries by the million: columns instead of objects. A Query is made when someone asks for it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from optimizer.catalog.model.query import Query
from optimizer.windows.window import Window

Int64s = npt.NDArray[np.int64]


class Shape(NamedTuple):
    """A query without its window; a catalog has few shapes, however many queries it has."""

    stream: str
    aggregate: str
    arguments: tuple[str, ...]
    where: str
    group_by: tuple[str, ...]
    name: str  # of the result's column


class Windows(NamedTuple):
    """The windows of many queries, side by side."""

    range: Int64s
    slide: Int64s
    offset: Int64s
    rows: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class QueryTable(Sequence[Query]):
    """A sequence of queries, stored as columns."""

    ids: Any  # pyarrow strings
    statements: Any  # pyarrow strings; the same object as ids when every query is its own statement
    shapes: tuple[Shape, ...]
    codes: npt.NDArray[np.int32]  # each query's shape
    windows: Windows

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> Query: ...
    @overload
    def __getitem__(self, index: slice) -> QueryTable: ...
    def __getitem__(self, index: int | slice) -> Query | QueryTable:
        """Return one query, or a table of some."""
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        return self._query(range(len(self))[index])

    def __iter__(self) -> Iterator[Query]:
        """Yield every query, one after the other."""
        columns = zip(*(column.tolist() for column in self.windows), strict=True)
        rows = zip(self.ids.to_pylist(), self.statements.to_pylist(), self.codes.tolist(), columns, strict=True)
        for query, statement, code, window in rows:
            stream, aggregate, arguments, where, group_by, _ = self.shapes[code]
            yield Query(query, stream, aggregate, arguments, Window(*window), where, group_by, statement)

    def _query(self, row: int) -> Query:
        stream, aggregate, arguments, where, group_by, _ = self.shape(row)
        window = Window(*(column[row].item() for column in self.windows))
        name, statement = self.ids[row].as_py(), self.statements[row].as_py()
        return Query(name, stream, aggregate, arguments, window, where, group_by, statement)

    def take(self, rows: npt.NDArray[np.int64]) -> QueryTable:
        """Return the queries of these rows."""
        ids = self.ids.take(pa.array(rows))
        statements = ids if self.statements is self.ids else self.statements.take(pa.array(rows))
        ranges, slides, offsets, in_rows = self.windows
        windows = Windows(ranges[rows], slides[rows], offsets[rows], in_rows[rows])
        return QueryTable(ids, statements, self.shapes, self.codes[rows], windows)

    def of_stream(self, stream: str) -> QueryTable:
        """Return the queries over one stream."""
        in_stream = np.array([shape.stream == stream for shape in self.shapes], dtype=bool)
        if in_stream.all():
            return self
        return self.take(np.flatnonzero(in_stream[self.codes]))

    def shape(self, row: int) -> Shape:
        """Return the shape of the query in a row."""
        return self.shapes[int(self.codes[row])]

    def digest(self) -> str:
        """Return a hash of the queries that does not depend on their order."""
        if not len(self):
            return ""
        shapes = pa.array([hashlib.sha256(repr(tuple(shape)).encode()).hexdigest() for shape in self.shapes])
        columns = [self.ids, self.statements, shapes.take(pa.array(self.codes))]
        columns += [pc.cast(pa.array(column), pa.string()) for column in self.windows]
        lines = pc.binary_join_element_wise(*columns, "\t")
        ordered = lines.take(pc.sort_indices(lines))
        return hashlib.sha256(b"".join(memoryview(b) for b in _contents(ordered))).hexdigest()


def _contents(array: Any) -> Iterator[Any]:
    # a taken array starts at offset 0 and owns exactly its bytes: lengths, then text
    yield pc.binary_length(array).buffers()[1]
    yield array.buffers()[2]


class TableBuilder:
    """Collects queries one by one into a table."""

    def __init__(self) -> None:
        self._codes: dict[Shape, int] = {}
        self._rows: list[tuple[str, str, int, Window]] = []

    def add(self, query: str, statement: str, shape: Shape, window: Window) -> None:
        """Add one query."""
        code = self._codes.setdefault(shape, len(self._codes))
        self._rows.append((query, statement, code, window))

    def table(self) -> QueryTable:
        """Return the queries collected so far."""
        ids, statements, codes, windows = zip(*self._rows, strict=True) if self._rows else ((), (), (), ())
        columns = Windows(
            np.array([window.range for window in windows], dtype=np.int64),
            np.array([window.slide for window in windows], dtype=np.int64),
            np.array([window.offset for window in windows], dtype=np.int64),
            np.array([window.rows for window in windows], dtype=bool),
        )
        names = pa.array(ids, pa.string()), pa.array(statements, pa.string())
        return QueryTable(*names, tuple(self._codes), np.array(codes, dtype=np.int32), columns)


def join_tables(tables: Iterable[QueryTable]) -> QueryTable:
    """Join several tables into one."""
    parts = [table for table in tables if len(table)]
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return TableBuilder().table()
    codes: dict[Shape, int] = {}
    renumbered = []
    for part in parts:
        numbers = [codes.setdefault(shape, len(codes)) for shape in part.shapes]
        renumbered.append(np.array(numbers, dtype=np.int32)[part.codes])
    windows = Windows(*(np.concatenate(columns) for columns in zip(*(part.windows for part in parts), strict=True)))
    ids = pa.concat_arrays([part.ids for part in parts])
    statements = pa.concat_arrays([part.statements for part in parts])
    return QueryTable(ids, statements, tuple(codes), np.concatenate(renumbered), windows)
