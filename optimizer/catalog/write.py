"""A catalog written back: as text that loads as the same catalog, or one query added to its folder or removed.

A reader sees the folder before or after a change, never between.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import yaml

from optimizer.catalog.model.catalog import (
    WINDOW_COLUMN,
    Catalog,
    default_columns,
    key_columns_of,
    user_aggregate,
    user_sql,
)
from optimizer.catalog.model.query import UTC, Expectation, Label, Query, Sink, Stream, Table
from optimizer.catalog.read.bulk import read_table
from optimizer.catalog.read.draft import at_line, check_id
from optimizer.catalog.read.entries import add_query_entry, read_text
from optimizer.catalog.read.load import catalog_files, read_folder
from optimizer.catalog.read.selects import parse_selected
from optimizer.catalog.read.source_options import PLACES
from optimizer.catalog.read.yaml_file import lines_of, read_yaml
from optimizer.catalog.sql.durations import print_duration, print_length
from optimizer.catalog.sql.expressions import quote
from optimizer.errors import CatalogError, HeddleError, Mistake, Problem, did_you_mean

Entry = dict[str, Any]


def print_catalog(catalog: Catalog) -> dict[str, str]:
    """Return the catalog's files: names and texts."""
    streams = {name: print_stream(stream) for name, stream in sorted(catalog.streams.items())}
    tables = {name: {"source": _source(table)} for name, table in sorted(catalog.tables.items())}
    files = {"streams.yaml": dump({"streams": streams} | ({"tables": tables} if tables else {}))}
    queries = list(print_queries(catalog))
    return files | ({"queries.yaml": dump({"queries": queries})} if queries else {})


def dump(content: Any) -> str:
    """Return YAML that a person can read."""
    text: str = yaml.dump(content, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=120)
    return text


def print_stream(stream: Stream) -> Entry:
    """Return a stream's YAML entry."""
    source = {"sql": stream.sql} if stream.sql else _source(stream)
    entry = {"source": source, "time": quote(stream.time), "lateness": print_duration(stream.lateness)}
    entry |= {"idle": print_duration(stream.idle)} if stream.idle else {}
    entry |= {"corrections": print_duration(stream.corrections)} if stream.corrections else {}
    entry |= _expect(stream.expect)
    entry |= {"sinks": {sink.name: _sink(sink) for sink in stream.sinks}} if stream.sinks else {}
    return entry | ({"zone": stream.zone} if stream.zone != UTC else {})


def _sink(sink: Sink) -> Entry:
    fields = {"path": sink.written, "url": sink.url, "catalog": sink.catalog, "namespace": sink.namespace}
    return {"format": sink.format, **{name: text for name, text in fields.items() if text}}


def _source(source: Stream | Table) -> Entry:
    options = {"options": dict(source.options)} if source.options else {}
    return {"format": source.format, PLACES.get(source.format, "path"): source.written, **options}


def print_queries(catalog: Catalog) -> Iterator[Entry]:
    """Yield the YAML entry of every statement."""
    members: dict[str, dict[str, Query]] = {}
    for query in catalog.queries:
        members.setdefault(query.statement, {})[query.id] = query
    for statement, queries in members.items():
        entry, having = print_statement(catalog, statement, queries), catalog.having.get(statement, "")
        if having and "sql" in entry:
            entry["sql"] += f" HAVING {having}"
        elif having:
            entry["having"] = having
        if statement in catalog.alerts:
            entry["alert"] = catalog.alerts[statement]
        yield entry | _label(catalog.labels.get(statement, Label())) | _expect(catalog.expect.get(statement, ()))


def _expect(expectations: Sequence[Expectation]) -> Entry:
    return {"expect": [expectation.to_entry() for expectation in expectations]} if expectations else {}


def _label(label: Label) -> Entry:
    return ({"owner": label.owner} if label.owner else {}) | ({"tags": list(label.tags)} if label.tags else {})


def print_statement(catalog: Catalog, statement: str, queries: dict[str, Query]) -> Entry:
    """Return one statement's entry: in fields where its columns allow it, else in SQL."""
    query = next(iter(queries.values()))
    columns = catalog.columns.get(statement)
    if columns is None:
        columns = default_columns(catalog.queries.shape(catalog.rows[statement]), statement)
    keys = (*key_columns_of(query.group_by), WINDOW_COLUMN)
    if columns[: len(keys)] != keys or {column.source for column in columns[len(keys) :]} != set(queries):
        return {"id": statement, "sql": user_sql(queries, columns, catalog.streams[query.stream].time)}
    selected = [_selected(queries[column.source], column.name) for column in columns[len(keys) :]]
    return _fields(statement, query, selected)


def _selected(query: Query, name: str) -> str:
    text = user_aggregate(query)
    return text if parse_selected(text).name == name else f"{text} AS {quote(name)}"


def _fields(statement: str, query: Query, selected: list[str]) -> Entry:
    window = query.window
    entry: Entry = {"id": statement, "stream": query.stream, "select": selected[0] if len(selected) == 1 else selected}
    if query.where:
        entry["where"] = query.where
    if query.group_by:
        entry["group_by"] = [quote(key) for key in query.group_by]
    entry |= {"range": print_length(window.range, window.rows), "slide": print_length(window.slide, window.rows)}
    return entry | ({"offset": print_length(window.offset, window.rows)} if window.offset else {})


def add_query(path: str | os.PathLike[str], entry: Mapping[str, Any]) -> Path:
    """Write one query, a YAML entry, into a file of its own; refuse it unless the catalog stays right."""
    folder = Path(path)
    content = {field: value for field, value in entry.items() if value not in (None, "", [])}
    name = str(content.get("id", ""))
    file = folder / f"{name}.yaml"
    try:
        check_id(name)
    except Mistake as mistake:
        raise CatalogError([Problem(str(folder), 0, "", "id", mistake.wrong, mistake.right)]) from None
    if file.exists():
        raise CatalogError([Problem(file.name, 0, name, "id", "the file is there already", "choose another id")])
    draft = read_folder(folder)
    add_query_entry(draft, content, at_line(file.name, 0))
    draft.finish()
    write_atomically(file, dump({"queries": [content]}).encode())
    return file


def remove_query(path: str | os.PathLike[str], query: str) -> Path:
    """Remove one query from the file it is written in."""
    all_ids: list[str] = []
    for file in catalog_files(Path(path)):
        ids = list(_ids(file))
        all_ids += ids
        if query in ids:
            _remove_from(file, query)
            return file
    right = did_you_mean(query, all_ids, "`heddle catalog show` lists them")
    raise HeddleError(f"{query}: the catalog has no such query; {right}")


def _ids(file: Path) -> Iterator[str]:
    if file.suffix == ".sql":
        yield file.stem
    elif file.suffix in (".yaml", ".yml"):
        content = _yaml(file)
        yield from (str(entry.get("id")) for entry in _entries(content) if isinstance(entry, dict))
    else:
        yield from read_table(file).column("id").to_pylist()


def _yaml(file: Path) -> Any:
    try:
        return read_yaml(read_text(file))
    except Mistake as mistake:
        raise CatalogError([Problem(file.name, 0, "", "", mistake.wrong, mistake.right)]) from None


def _entries(content: Any) -> list[Any]:
    entries = content.get("queries") if isinstance(content, dict) else None
    return entries if isinstance(entries, list) else []


def _remove_from(file: Path, query: str) -> None:
    if file.suffix == ".sql":
        file.unlink()
    elif file.suffix in (".yaml", ".yml"):
        _remove_entry(file, query)
    else:
        table = read_table(file)
        others = table.filter(pc.not_equal(table.column("id"), query))
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".") as place:
            new = Path(place) / file.name
            (pq.write_table if file.suffix == ".parquet" else pa_csv.write_csv)(others, new)
            os.replace(new, file)


def _remove_entry(file: Path, query: str) -> None:
    content = _yaml(file)
    entries = _entries(content)
    index = next(i for i, entry in enumerate(entries) if isinstance(entry, dict) and entry.get("id") == query)
    left = content | {"queries": entries[:index] + entries[index + 1 :]}
    if not left["queries"]:
        del left["queries"]
    if not left:
        file.unlink()
        return
    text = _without_lines(read_text(file), index)
    write_atomically(file, (text if text is not None and _holds_content(text, left) else dump(left)).encode())


def _without_lines(text: str, index: int) -> str | None:
    """Return the text without the lines of one entry; None where lines do not part the entries."""
    places = lines_of(text)
    first = places[("queries", index)]
    later = sorted(line for line in places.values() if line > max(_lines_of_entry(places, index)))
    lines = text.splitlines(keepends=True)
    last = later[0] - 1 if later else len(lines)
    return "".join(lines[: first - 1] + lines[last:])


def _lines_of_entry(places: Mapping[tuple[str | int, ...], int], index: int) -> list[int]:
    return [line for place, line in places.items() if place[:2] == ("queries", index)]


def _holds_content(text: str, content: Any) -> bool:
    try:
        parsed = read_yaml(text)
    except Mistake:
        return False
    if isinstance(parsed, dict) and not parsed.get("queries"):
        parsed = {key: value for key, value in parsed.items() if key != "queries"}
    return bool(parsed == content)


def write_atomically(file: Path, content: bytes) -> None:
    """Write a file so that a reader sees its old content or its new one, never a part."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.chmod(name, 0o644)
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise
