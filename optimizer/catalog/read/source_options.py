"""Options of a source: which a format has, and what their values may be. What is accepted counts in every lane."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

import sqlglot
from sqlglot import exp

from optimizer.catalog.model.source_files import glob_pattern, instant
from optimizer.catalog.sql.durations import parse_duration
from optimizer.catalog.sql.expressions import quote
from optimizer.errors import Mistake, did_you_mean, show

FILE_FORMATS = ("parquet", "csv", "json", "orc")  # whose files are in a folder
PLACES = {"iceberg": "table", "table": "name"}  # the field that says where a source is, where that is no path
_TEXT_FILES = "encoding dateFormat timestampFormat timestampNTZFormat mode multiLine schema"
_ANY = "recursiveFileLookup pathGlobFilter modifiedAfter modifiedBefore maxFilesPerTrigger"
_TOPIC = "servers topic schema values timestamps"
OPTIONS: dict[str, frozenset[str]] = {
    "parquet": frozenset(f"{_ANY} mergeSchema".split()),
    "orc": frozenset(f"{_ANY} mergeSchema".split()),
    "json": frozenset(f"{_ANY} {_TEXT_FILES}".split()),
    "csv": frozenset(
        f"{_ANY} {_TEXT_FILES} header sep delimiter quote escape comment nullValue nanValue positiveInf negativeInf "
        "inferSchema ignoreLeadingWhiteSpace ignoreTrailingWhiteSpace".split()
    ),
    "delta": frozenset({"maxFilesPerTrigger"}),
    "iceberg": frozenset({"maxFilesPerTrigger", "catalog", "type", "uri", "warehouse"}),
    "table": frozenset({"maxFilesPerTrigger"}),
    "kafka": frozenset(f"{_TOPIC} avroSchema avroHeader startingOffsets retention maxFilesPerTrigger".split()),
}
REQUIRED = {"kafka": ("servers", "topic", "schema")}
FORMATS = tuple(OPTIONS)
TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
TRUTHS = "recursiveFileLookup mergeSchema multiLine inferSchema header ignoreLeadingWhiteSpace ignoreTrailingWhiteSpace"
CATALOG_TYPES = ("sql", "rest", "hive", "glue", "dynamodb")  # of pyiceberg; no class of anybody's own
MODES = ("PERMISSIVE", "FAILFAST")


def check_options(format: str, options: Mapping[str, str], zone: str) -> dict[str, str]:
    """Return the options of a source of this format; refuse those that it does not have."""
    if format not in FORMATS:
        right = did_you_mean(format, FORMATS, f"formats: {', '.join(FORMATS)}")
        raise Mistake(f"there is no format {show(format)}", right, "source")
    missing = [option for option in REQUIRED.get(format, ()) if not options.get(option)]
    if options.get("values") == "avro" and not options.get("avroSchema"):
        missing.append("avroSchema")
    if missing:
        raise Mistake(f"a source of format {format} has no {missing[0]}", "write it below its options", "source")
    return {option: _check(format, option, value, zone) for option, value in options.items()}


def _check(format: str, option: str, value: str, zone: str) -> str:
    own = OPTIONS[format]
    if option not in own:
        right = did_you_mean(option, own, f"options of {format}: {', '.join(sorted(own))}")
        raise Mistake(f"the option {show(option)} is refused", right, "source")
    if len(value) > 10_000 or "${" in value or "\0" in value:
        raise Mistake(f"the value of {option} is refused", "write a short plain text", "source")
    if "@" in value and option in ("uri", "servers"):
        raise _mistake(option, "has a user or password", "leave it to the environment: docs/sources.md says how")
    if option in ("modifiedAfter", "modifiedBefore"):
        instant_in_zone(option, value, zone)
    return VALUES.get(option, _any_text)(option, value)


def instant_in_zone(option: str, value: str, zone: str) -> None:
    """Refuse what is no time."""
    try:
        instant(value, zone)
    except Mistake as mistake:
        raise _mistake(option, mistake.wrong, mistake.right) from None


def _any_text(option: str, value: str) -> str:
    return value


def _truth(option: str, value: str) -> str:
    if value.lower() not in ("true", "false"):
        raise _mistake(option, f"{show(value)} is neither true nor false", 'write "true" or "false"')
    return value.lower()


def _count(option: str, value: str) -> str:
    if not value.isascii() or not value.isdigit() or not int(value):
        raise _mistake(option, f"{show(value)} is no number of files", 'write a whole number of at least "1"')
    return value


def _glob(option: str, value: str) -> str:
    try:
        glob_pattern(value)
    except Mistake as mistake:
        raise _mistake(option, mistake.wrong, mistake.right) from None
    return value


def _mode(option: str, value: str) -> str:
    if value.upper() not in MODES:  # which rows DROPMALFORMED drops depends on the columns that a query reads
        raise _mistake(
            option, f"{show(value)} is refused", f"write {' or '.join(MODES)}, and use WHERE to leave rows out"
        )
    return value.upper()


def _schema(option: str, value: str) -> str:
    """Return the columns and types, printed anew: Spark reads them as DDL."""
    columns = _columns(value)
    if not columns:
        raise _mistake(option, f"{show(value)} is no list of columns", "write it like k STRING, x DOUBLE, ts TIMESTAMP")
    return ", ".join(f"{quote(column.name)} {column.args['kind'].sql('spark')}" for column in columns)


def schema_columns(text: str) -> dict[str, str]:
    """Return the columns of a schema and their types, as Spark calls them.

    >>> schema_columns("k STRING, `the time` TIMESTAMP")
    {'k': 'string', 'the time': 'timestamp'}
    """
    return {column.name: column.args["kind"].sql("spark").lower() for column in _columns(text)}


def _columns(text: str) -> list[exp.Expr]:
    """Return the columns of a schema; none of a text that is no schema."""
    try:
        tree = sqlglot.parse_one(f"CREATE TABLE t ({text})", read="spark")
    except sqlglot.ParseError:
        return []
    columns = tree.this.expressions if isinstance(tree, exp.Create) and isinstance(tree.this, exp.Schema) else []
    return [] if any(not _is_plain(column) for column in columns) or tree.args.get("properties") else columns


def _is_plain(column: exp.Expr) -> bool:
    return (
        isinstance(column, exp.ColumnDef)
        and isinstance(column.args.get("kind"), exp.DataType)
        and not column.args.get("constraints")
    )


def _mistake(option: str, wrong: str, right: str) -> Mistake:
    return Mistake(f"{option}: {wrong}", right, "source")


def _catalog_type(option: str, value: str) -> str:
    if value not in CATALOG_TYPES:
        raise _mistake(option, f"there is no catalog type {show(value)}", f"use one of {', '.join(CATALOG_TYPES)}")
    return value


def _one_of(*words: str) -> Callable[[str, str], str]:
    def check_word(option: str, value: str) -> str:
        if value not in words:
            raise _mistake(option, f"{show(value)} is refused", f"use one of {', '.join(words)}")
        return value

    return check_word


def _retention(option: str, value: str) -> str:
    try:
        ticks = parse_duration(value)
    except Mistake as mistake:
        raise _mistake(option, mistake.wrong, mistake.right) from None
    if ticks <= 0:
        raise _mistake(option, f"{show(value)} keeps nothing", "give a duration, or leave it out: then all is kept")
    return value


def _avro_schema(option: str, value: str) -> str:
    try:
        is_record = json.loads(value).get("type") == "record"
    except (ValueError, AttributeError):
        is_record = False
    if not is_record:
        raise _mistake(option, "is no Avro record", "write the schema as JSON, of type record")
    return value


def _topic(option: str, value: str) -> str:
    if not TOPIC.fullmatch(value):
        raise _mistake(
            option, f"{show(value)} is no name of a topic", "use letters, digits, dots, dashes and underscores"
        )
    return value


VALUES: dict[str, Callable[[str, str], str]] = {
    **dict.fromkeys(TRUTHS.split(), _truth),
    "avroHeader": _truth,
    "maxFilesPerTrigger": _count,
    "pathGlobFilter": _glob,
    "mode": _mode,
    "type": _catalog_type,
    "schema": _schema,
    "values": _one_of("json", "avro"),
    "timestamps": _one_of("text", "seconds", "milliseconds", "microseconds"),
    "startingOffsets": _one_of("earliest", "latest"),
    "retention": _retention,
    "avroSchema": _avro_schema,
    "topic": _topic,
}
