"""A catalog while it is being read: what is understood so far, and every problem found."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pyarrow.compute as pc

from optimizer.catalog.model.catalog import WINDOW_COLUMN, Catalog, key_columns_of
from optimizer.catalog.model.query import Column, Expectation, Label, Stream, Table
from optimizer.catalog.model.table import QueryTable, Shape, TableBuilder, join_tables
from optimizer.catalog.read.expect import check_answer_columns
from optimizer.catalog.read.statements import Parsed
from optimizer.catalog.read.streams import check_sources
from optimizer.catalog.read.yaml_file import YamlMistake
from optimizer.errors import CatalogError, Mistake, Problem, did_you_mean, show

ID = re.compile(r"[a-z][a-z0-9_]{0,62}")
REPORTED = 100  # queries with one and the same mistake that are named one by one
ID_RIGHT = "an id is a small letter, then up to 62 small letters, digits or _"


@dataclass(frozen=True)
class Origin:
    """Where a statement is written."""

    file: str
    line: Callable[[str], int]  # of a field of it


def at_line(file: str, line: int) -> Origin:
    """Return an origin that is one line, whatever the field."""
    return Origin(file, lambda field: line)


class Draft:
    """Collects streams, queries and problems, file by file; `finish` is the catalog or all problems."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.streams: dict[str, Stream] = {}
        self.tables: dict[str, Table] = {}
        self.places: dict[str, Origin] = {}  # of streams and tables
        self.problems: list[Problem] = []
        self.pending: list[tuple[str, Parsed, Origin]] = []
        self.bulk: list[tuple[str, QueryTable]] = []
        self.columns: dict[str, tuple[Column, ...]] = {}
        self.labels: dict[str, Label] = {}
        self.having: dict[str, str] = {}
        self.expect: dict[str, tuple[Expectation, ...]] = {}
        self.alerts: dict[str, str] = {}
        self.origins: list[Origin] = []  # of the queries that are not from bulk files, which come first

    def guard(self, file: Path, read: Callable[[Draft, Path], None]) -> None:
        """Read one file; whatever fails becomes a problem of the file."""
        try:
            read(self, file)
        except Mistake as mistake:
            line = mistake.line if isinstance(mistake, YamlMistake) else 0
            self.problems.append(Problem(file.name, line, "", mistake.field, mistake.wrong, mistake.right))
        except OSError as error:
            reason = error.strerror or "it cannot be read"
            self.problems.append(Problem(file.name, 0, "", "", reason, "make the file readable"))

    def refuse(self, origin: Origin, query: str, mistake: Mistake, field: str = "") -> None:
        """Note a problem of a statement or stream."""
        field_name = mistake.field or field
        query_text = query if ID.fullmatch(query) else show(query) if query else ""
        line = origin.line(field_name)
        self.problems.append(Problem(origin.file, line, query_text, field_name, mistake.wrong, mistake.right))

    def finish(self) -> Catalog:
        """Return the catalog; raise CatalogError with all problems if there are any."""
        for name, mistake in check_sources(self.streams, self.tables):
            self.refuse(self.places[name], name, mistake, "source")
        builder = TableBuilder()
        for statement, parsed, origin in self.pending:
            if self.has_refused(parsed.stream):
                continue  # whoever mends the stream hears of nothing else
            try:
                self._check_stream(parsed)
                self._add(builder, statement, parsed)
                self.origins.extend([origin] * len(parsed.selected))
            except Mistake as mistake:
                self.refuse(origin, statement, mistake)
        table = join_tables([builder.table(), *(bulk for _, bulk in self.bulk)])
        self._check_unique(table)
        self._check_corrections(table)
        if self.problems:
            raise CatalogError(self.problems)
        texts = (self.labels, self.having, self.expect, self.alerts)
        return Catalog(self.streams, table, self.columns, self.tables, *texts)

    def label(self, statement: str, owner: str | None, tags: str | Sequence[str] | None) -> None:
        """Note whose a statement is; tags are a list, or a text with commas."""
        names = tags.split(",") if isinstance(tags, str) else tags or ()
        label = Label((owner or "").strip(), tuple(name.strip() for name in names if name.strip()))
        if label != Label():
            self.labels[statement] = label

    def has_refused(self, stream: str) -> bool:
        """Return whether the catalog describes a stream, but with mistakes."""
        return stream in self.places and stream not in self.streams and stream not in self.tables

    def _check_stream(self, parsed: Parsed) -> None:
        stream = self.streams.get(parsed.stream)
        if stream is None:
            raise unknown_stream(parsed.stream, self.streams)
        if parsed.time and parsed.time.lower() != stream.time.lower():
            wrong = f"the window is over {show(parsed.time)}, the time column of {stream.name} is {show(stream.time)}"
            raise Mistake(wrong, f"write window({stream.time}, ...)", "sql")

    def _add(self, builder: TableBuilder, statement: str, parsed: Parsed) -> None:
        ids = query_ids(statement, [selected.name for selected in parsed.selected])
        check_keys(ids, parsed.group_by)
        check_answer_columns(self.expect.get(statement, ()), [selected.name for selected in parsed.selected])
        for query, (aggregate, arguments, name) in zip(ids, parsed.selected, strict=True):
            shape = Shape(parsed.stream, aggregate, arguments, parsed.where, parsed.group_by, name)
            builder.add(query, statement, shape, parsed.window)
        if parsed.having:
            self.having[statement] = parsed.having
        if parsed.alert:
            self.alerts[statement] = parsed.alert
        columns = tuple(
            Column(name, source if isinstance(source, str) else ids[source], kind)
            for name, source, kind in parsed.columns
        )
        if len(ids) > 1 or columns[:-1] != (*key_columns_of(parsed.group_by), WINDOW_COLUMN):
            self.columns[statement] = columns

    def _check_unique(self, table: QueryTable) -> None:
        if pc.count_distinct(table.ids).as_py() == len(table):
            return
        counts = pc.value_counts(table.ids)
        twice = set(counts.field(0).filter(pc.greater(counts.field(1), 1)).to_pylist())
        mistake = Mistake("the id is there twice", "give one of them another id", "id")
        rows = [(row, query) for row, query in enumerate(table.ids.to_pylist()) if query in twice]
        for row, query in rows[:REPORTED]:
            self.refuse(self.origin(row), query, mistake)

    def _check_corrections(self, table: QueryTable) -> None:
        """Refuse queries whose emitted windows cannot be corrected, and those whose rows a sink could not replace."""
        corrected = {name for name, stream in self.streams.items() if stream.corrections}
        if not corrected:
            return
        for row, (statement, code) in enumerate(zip(table.statements.to_pylist(), table.codes.tolist(), strict=True)):
            shape = table.shapes[code]
            if shape.stream not in corrected:
                continue
            own = self.columns.get(statement)
            keys = {column.source for column in own or () if column.kind == "key"}
            is_whole = own is None or (keys >= set(shape.group_by) and any(column.kind == "window" for column in own))
            readers = ["a sink"] * bool(self.streams[shape.stream].sinks) + ["its alert"] * (statement in self.alerts)
            if table.windows.rows[row]:
                wrong = f"a late event gives all rows after it other numbers, and {shape.stream} has corrections"
                self.refuse(self.origin(row), statement, Mistake(wrong, "measure the window in time", "range"))
            elif readers and not is_whole:
                wrong = f"it selects not all of its keys and its window, by which {readers[0]} knows corrected rows"
                self.refuse(self.origin(row), statement, Mistake(wrong, "select all of them", "sql"))

    def origin(self, row: int) -> Origin:
        """Return where the query of a row is written."""
        if row < len(self.origins):
            return self.origins[row]
        line = row - len(self.origins)
        for file, bulk in self.bulk:
            if line < len(bulk):
                return at_line(file, line + 2)
            line -= len(bulk)
        raise IndexError(row)


def unknown_stream(name: str, streams: dict[str, Stream]) -> Mistake:
    """Return the mistake of naming a stream that the catalog does not have."""
    hint = f"streams: {', '.join(sorted(streams)[:10])}" if streams else "declare it under streams: in a YAML file"
    return Mistake(f"there is no stream {show(name)}", did_you_mean(name, streams, hint), "stream")


def check_id(text: str) -> None:
    """Refuse a text that is no id."""
    if not ID.fullmatch(text):
        raise Mistake(f"{show(text)} is no id", ID_RIGHT, "id")


def check_keys(ids: Sequence[str], group_by: Sequence[str]) -> None:
    """Refuse a query with the name of one of its keys: a result column is named by its source."""
    for key in group_by:
        if key in ids or key.lower() == "window":
            wrong = f"the key {show(key)} has the name of {'the window' if key.lower() == 'window' else 'the query'}"
            raise Mistake(wrong, "rename one of them", "group_by")


def query_ids(statement: str, names: list[str]) -> list[str]:
    """Return the ids of a statement's queries: its own if it has one aggregate, else one per column name."""
    if len(names) == 1:
        return [statement]
    ids: list[str] = []
    for name in names:
        words = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "value"
        query = f"{statement}_{words}"
        if len(query) > 63 or query in ids:
            query = f"{query[:54]}_{sha256(name.encode()).hexdigest()[:8]}"
        ids.append(query)
    return ids
