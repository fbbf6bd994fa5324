"""Options of a source: which a format has, and what their values may be. What is accepted counts in every lane."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sqlglot
from sqlglot import exp

from optimizer.catalog.model.source_files import glob_pattern, instant
from optimizer.catalog.sql.expressions import quote
from optimizer.errors import Mistake, did_you_mean, show

FILE_FORMATS = ("parquet", "csv", "json", "orc")  # whose files are in a folder
PLACES = {"iceberg": "table"}  # the field that says where a source is, where that is no path
_TEXT_FILES = "encoding dateFormat timestampFormat timestampNTZFormat mode multiLine schema"
_ANY = "recursiveFileLookup pathGlobFilter modifiedAfter modifiedBefore maxFilesPerTrigger"
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
}
FORMATS = tuple(OPTIONS)
TRUTHS = "recursiveFileLookup mergeSchema multiLine inferSchema header ignoreLeadingWhiteSpace ignoreTrailingWhiteSpace"
CATALOG_TYPES = ("sql", "rest", "hive", "glue", "dynamodb")  # of pyiceberg; no class of anybody's own
MODES = ("PERMISSIVE", "FAILFAST")


def check_options(format: str, options: Mapping[str, str], zone: str) -> dict[str, str]:
    """Return the options of a source of this format; refuse those that it does not have."""
    if format not in FORMATS:
        right = did_you_mean(format, FORMATS, f"formats: {', '.join(FORMATS)}")
        raise Mistake(f"there is no format {show(format)}", right, "source")
    return {option: _check(format, option, value, zone) for option, value in options.items()}


def _check(format: str, option: str, value: str, zone: str) -> str:
    own = OPTIONS[format]
    if option not in own:
        right = did_you_mean(option, own, f"options of {format}: {', '.join(sorted(own))}")
        raise Mistake(f"the option {show(option)} is refused", right, "source")
    if len(value) > 10_000 or "${" in value or "\0" in value:
        raise Mistake(f"the value of {option} is refused", "write a short plain text", "source")
    if "@" in value and option == "uri":
        raise _mistake(option, "has a user or password", "leave it to pyiceberg's own settings, in the environment")
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
    try:
        tree = sqlglot.parse_one(f"CREATE TABLE t ({value})", read="spark")
    except sqlglot.ParseError:
        tree = None
    columns = tree.this.expressions if isinstance(tree, exp.Create) and isinstance(tree.this, exp.Schema) else []
    if not columns or any(not _is_plain(column) for column in columns) or (tree and tree.args.get("properties")):
        raise _mistake(option, f"{show(value)} is no list of columns", "write it like k STRING, x DOUBLE, ts TIMESTAMP")
    return ", ".join(f"{quote(column.name)} {column.args['kind'].sql('spark')}" for column in columns)


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


VALUES: dict[str, Callable[[str, str], str]] = {
    **dict.fromkeys(TRUTHS.split(), _truth),
    "maxFilesPerTrigger": _count,
    "pathGlobFilter": _glob,
    "mode": _mode,
    "type": _catalog_type,
    "schema": _schema,
}
