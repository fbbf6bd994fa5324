"""Streams and static tables: sources and sinks, where their files may be, and the SQL of streams made from others.

Which fields a sink has depends on its format; credentials are never among them.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from sqlglot import exp

from optimizer.catalog.model.query import UTC, Sink, Stream, Table
from optimizer.catalog.read.expect import FIELD, parse_stream_expectations
from optimizer.catalog.read.source_options import FILE_FORMATS, PLACES, check_options
from optimizer.catalog.read.yaml_file import SourceModel, StreamModel
from optimizer.catalog.sql.durations import parse_duration
from optimizer.catalog.sql.expressions import NAME, check, column_name, parse, print_tree
from optimizer.errors import Mistake, did_you_mean, in_field, show

if TYPE_CHECKING:
    from optimizer.catalog.read.yaml_file import SinkModel


ROOTS = "HEDDLE_ROOTS"  # the folders that paths must stay inside of, if they are configured
SCHEMES = ("hdfs", "s3a")  # that Spark reads
TABLE = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)+")
SPARK_TABLE = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+){0,2}")
SHAPE = "write SELECT columns FROM a [JOIN b ON ...] [WHERE ...]"
JOINED = "join streams and tables of this catalog by their plain names"
SINK_PLACES: dict[str, tuple[str, ...]] = {  # of each format, the fields that say where it is: one of them is there
    "parquet": ("path",),
    "delta": ("path",),
    "iceberg": ("path", "catalog"),
    "sql": ("path", "url"),
}
NAMESPACED_SINKS = ("iceberg", "sql")
SINK_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
SINK_URL = re.compile(r"(env|airflow):[A-Za-z_][A-Za-z0-9_.-]{0,199}")


def make_stream(name: str, model: StreamModel, folder: Path) -> Stream:
    """Make a stream of its YAML entry."""
    source = model.source
    lateness = in_field("lateness", parse_duration, model.lateness)
    if lateness < 0:
        raise Mistake(f"the lateness is {show(model.lateness)}", "give a duration of 0 seconds or more", "lateness")
    idle = in_field("idle", parse_duration, model.idle) if model.idle else 0
    if model.idle and idle <= 0:
        raise Mistake(f"idle is {show(model.idle)}", "give a duration, or leave it out: then windows wait", "idle")
    corrections = in_field("corrections", parse_duration, model.corrections) if model.corrections else 0
    if model.corrections and corrections <= 0:
        right = "give a duration, or leave it out: then emitted windows stay as they are"
        raise Mistake(f"corrections is {show(model.corrections)}", right, "corrections")
    time = in_field("time", column_name, model.time)
    if sum(map(bool, (source.sql, source.path, source.table, source.name))) != 1:
        raise Mistake("a source has either a path or sql, or a table or a name", "keep one of them", "source")
    zone = in_field("zone", check_zone, model.zone)
    expect = in_field(FIELD, parse_stream_expectations, model.expect)
    sinks = make_sinks(model.sinks, lambda path: locate(path, folder))
    settings: dict[str, Any] = {"idle": idle, "expect": expect, "sinks": sinks, "corrections": corrections}
    if source.sql:
        sql = in_field("source", stream_sql, source.sql)
        return Stream(name, time, lateness, "sql", sql=sql, zone=zone, **settings)
    options = check_options(source.format, source.options, zone)
    path = _locate_source(source, options, folder)
    place = place_of(source)
    return Stream(name, time, lateness, source.format, path, "", options, place, zone, **settings)


def place_of(source: SourceModel) -> str:
    """Return where a source is, as its catalog says it; refuse the field of another format."""
    field = PLACES.get(source.format, "path")
    place = str(getattr(source, field))
    if not place:
        raise Mistake(f"a source of format {source.format} has no {field}", f"write {field}: ... beside it", "source")
    return place


@cache
def zones() -> frozenset[str]:
    """Return the zones that Python and Spark know by the same rules: UTC, and regions with their cities.

    Short names (EST, CET) are not among them: Java takes some of them for a fixed offset."""
    return frozenset(name for name in available_timezones() if "/" in name) | {UTC}


def check_zone(name: str) -> str:
    """Return the name of a time zone; refuse what is none."""
    if name not in zones():
        right = did_you_mean(name, zones(), "write UTC, or a region and a city: Europe/Berlin")
        raise Mistake(f"there is no time zone {show(name)}", right)
    return name


def make_table(name: str, source: SourceModel, folder: Path) -> Table:
    """Make a static table of its YAML entry."""
    if source.sql or not source.path:
        raise Mistake("a table has a path", "write source: {format: parquet, path: ...}", "source")
    options = check_options(source.format, source.options, UTC)
    if source.format not in FILE_FORMATS:
        raise Mistake(f"a table is not read as {source.format}", f"use {', '.join(FILE_FORMATS)}", "source")
    if "maxFilesPerTrigger" in options:
        raise Mistake("a table is not read in batches", "leave out maxFilesPerTrigger", "source")
    return Table(name, source.format, _locate_source(source, options, folder), options, source.path)


def _locate_source(source: SourceModel, options: Mapping[str, str], folder: Path) -> str:
    place = place_of(source)
    if source.format == "iceberg":
        return in_field("source", lambda table: locate_table(table, options.get("uri", ""), folder), place)
    if source.format == "table":
        if not SPARK_TABLE.fullmatch(place):
            raise Mistake(f"{show(place)} is no name of a table", "write it like db.events", "source")
        return place
    return in_field("source", lambda path: locate(path, folder), place)


def locate_table(table: str, uri: str, folder: Path) -> str:
    """Return the address of an Iceberg table: CATALOG#TABLE, where the catalog is a URI or the path of a SQLite file.

    Such a file has to be inside the roots.
    """
    if not TABLE.fullmatch(table):
        raise Mistake(f"{show(table)} is no name of a table", "write it like db.events")
    parts = urlsplit(uri)
    if parts.scheme == "sqlite":
        return f"sqlite:///{locate(parts.path.removeprefix('/'), folder)}#{table}"
    if uri and parts.scheme not in ("http", "https", "thrift"):
        raise Mistake(f"the uri {show(uri)} is refused", "use sqlite:///, http://, https:// or thrift://")
    return f"{uri}#{table}"


def stream_sql(text: str) -> str:
    """Check the SQL of a stream: a SELECT over tables with joins and WHERE, made of allowed expressions."""
    tree = parse(text.strip().removesuffix(";"))
    if not isinstance(tree, exp.Select):
        raise Mistake(
            f"{type(tree).__name__} is not a SELECT", "write SELECT columns FROM a [JOIN b ON ...] [WHERE ...]"
        )
    for part, value in tree.args.items():
        if value and part not in ("expressions", "from_", "where", "joins"):
            raise Mistake(f"{part.rstrip('_').upper()} is refused in a stream's SQL", "use SELECT, FROM, JOIN, WHERE")
    if not tree.args.get("from_"):
        raise Mistake("there is no FROM", SHAPE)
    for source in (tree.args["from_"], *(tree.args.get("joins") or ())):
        _check_joined(source)
    for item in tree.expressions:
        _check_item(item)
    if tree.args.get("where"):
        check(tree.args["where"].this)
    return print_tree(tree)


def _check_joined(source: exp.Expr) -> None:
    table = source.this
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise Mistake("a subquery or function is refused in FROM", JOINED)
    if any(value for part, value in table.args.items() if part not in ("this", "alias")):
        raise Mistake(f"{show(table.sql('spark'))} is refused", JOINED)
    if not NAME.fullmatch(table.name) or (table.alias and not NAME.fullmatch(table.alias)):
        raise Mistake(f"{show(table.sql('spark'))} is refused", JOINED)
    for part, value in source.args.items():
        if value and part not in ("this", "on", "using", "side", "kind"):
            raise Mistake(f"a join with {part} is refused", "use [LEFT] JOIN ... ON or USING")
    if source.args.get("on"):
        check(source.args["on"])
    for column in source.args.get("using") or ():
        check(column)


def _check_item(item: exp.Expr) -> None:
    if isinstance(item, exp.Star) and not any(item.args.values()):
        return
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Star) and item.table:
        return
    if isinstance(item, exp.Alias) and isinstance(item.args["alias"], exp.Identifier):
        check(item.args["alias"])
        item = item.this
    check(item)


def sources_of(sql: str) -> list[str]:
    """Return the names that a stream's SQL reads from.

    >>> sources_of("SELECT * FROM trades JOIN close ON trades.symbol = close.symbol")
    ['close', 'trades']
    """
    return sorted({str(table.name) for table in parse(sql).find_all(exp.Table)})


def check_sources(streams: Mapping[str, Stream], tables: Mapping[str, Table]) -> Iterator[tuple[str, Mistake]]:
    """Yield a mistake for every stream whose SQL reads from something that does not exist, or from itself."""
    reads: dict[str, list[str]] = {}
    for name, stream in streams.items():
        try:
            reads |= {name: sources_of(stream.sql)} if stream.sql else {}
        except Mistake as mistake:  # in what was written back: `a$b` is a variable to the parser
            yield name, mistake
    for name, sources in reads.items():
        for source in sources:
            if source not in streams and source not in tables:
                hint = f"declare {source} under streams: or tables:"
                yield name, Mistake(f"there is no {show(source)}", did_you_mean(source, [*streams, *tables], hint))
        if _reaches(name, name, reads):
            yield name, Mistake("its SQL reads from itself", "break the circle")


def _reaches(start: str, goal: str, reads: Mapping[str, list[str]]) -> bool:
    visited: set[str] = set()
    waiting = list(reads.get(start, ()))
    while waiting:
        name = waiting.pop()
        if name == goal:
            return True
        if name not in visited:
            visited.add(name)
            waiting.extend(reads.get(name, ()))
    return False


def roots(folder: Path) -> list[Path]:
    """Return the folders that paths must stay inside of: HEDDLE_ROOTS, or beside the catalog and the current folder."""
    configured = os.environ.get(ROOTS, "")
    if configured:
        return [Path(root).resolve() for root in configured.split(os.pathsep) if root]
    temporary = Path(tempfile.gettempdir()).resolve()
    beside = folder.resolve().parent
    return list(
        dict.fromkeys([beside, Path.cwd().resolve(), *([temporary] if beside.is_relative_to(temporary) else [])])
    )


def locate(path: str, folder: Path) -> str:
    """Return the path, ready to read; refuse what leaves the roots."""
    if not path or len(path) > 1000 or any(ord(char) < 32 for char in path):
        raise Mistake(f"{show(path)} is no path", "name a file or folder")
    parts = urlsplit(path) if "://" in path or path.startswith("file:") else None
    if parts is None:
        return str(_inside(path, folder))
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return str(_inside(parts.path, folder))
    if parts.scheme not in SCHEMES:
        raise Mistake(f"the scheme {show(parts.scheme)} is refused", f"use a path, file://, {'://, '.join(SCHEMES)}://")
    if ".." in parts.path.split("/") or "@" in parts.netloc:
        raise Mistake(f"{show(path)} is refused", "write it without .. and without a password")
    return path


def _inside(path: str, folder: Path) -> Path:
    allowed = roots(folder)
    try:
        places = [(base / path).resolve() for base in (folder.resolve().parent, Path.cwd())]
        inside = [place for place in places if any(place.is_relative_to(root) for root in allowed)]
        existing = [place for place in inside if place.exists()]
    except (OSError, RuntimeError, ValueError):
        raise Mistake(f"{show(path)} is no path", "name a file or folder") from None
    if not inside:
        roots_text = os.pathsep.join(map(str, allowed))
        raise Mistake(f"{show(path)} is outside the allowed folders", f"set {ROOTS} to more than {roots_text}")
    return (existing or inside)[0]


def make_sinks(models: Mapping[str, SinkModel], locate: Callable[[str], str]) -> tuple[Sink, ...]:
    """Return the sinks of a stream by their YAML entries; refuse what a format does not have."""
    return tuple(_make_sink(name, model, locate) for name, model in models.items())


def _make_sink(name: str, model: SinkModel, locate: Callable[[str], str]) -> Sink:
    if not SINK_NAME.fullmatch(name):
        raise _sink_mistake(name, "is no name", "a name is a small letter, then up to 62 small letters, digits or _")
    if model.format not in SINK_PLACES:
        right = did_you_mean(model.format, SINK_PLACES, f"formats: {', '.join(SINK_PLACES)}")
        raise _sink_mistake(name, f"there is no format {show(model.format)}", right)
    places = SINK_PLACES[model.format]
    named = [field for field in ("path", "url", "catalog") if getattr(model, field)]
    if len(named) != 1 or named[0] not in places:
        raise _sink_mistake(name, f"it has {' and '.join(named) or 'no place'}", f"give it one {' or '.join(places)}")
    if model.namespace and (model.format not in NAMESPACED_SINKS or not SINK_NAME.fullmatch(model.namespace)):
        raise _sink_mistake(
            name, f"the namespace {show(model.namespace)} is refused", "leave it out, or write a plain name"
        )
    if model.url and not SINK_URL.fullmatch(
        model.url
    ):  # not shown: whoever writes a password here shall not find it in a log
        raise _sink_mistake(
            name, "its url is refused", "write env:VARIABLE or airflow:CONNECTION, which hold the address"
        )
    if model.catalog and not SINK_NAME.fullmatch(model.catalog):
        raise _sink_mistake(
            name, f"the catalog {show(model.catalog)} is refused", "name one of pyiceberg's configuration"
        )
    try:
        path = locate(model.path) if model.path else ""
    except Mistake as mistake:
        raise _sink_mistake(name, mistake.wrong, mistake.right) from None
    return Sink(name, model.format, path, model.url, model.catalog, model.namespace, model.path)


def _sink_mistake(name: str, wrong: str, right: str) -> Mistake:
    return Mistake(f"sink {show(name)}: {wrong}", right, "sinks")
