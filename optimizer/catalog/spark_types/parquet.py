"""The columns of a stream and their Spark types, read from its Parquet files and their folders without Spark.

Folders name columns, too (day=2024-01-31/): Spark infers a type of all their values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from optimizer.catalog.model.query import Stream
from optimizer.catalog.model.source_files import NULL_FOLDER, Found, read_folders, reads_below, select_files, unescape
from optimizer.errors import HeddleError, Mistake, show

Schema = dict[str, str]  # column -> Spark's name of its type; "unknown" where only Spark can tell
_NAMES: dict[Any, str] = {
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.uint8(): "smallint",
    pa.uint16(): "int",
    pa.uint32(): "bigint",
    pa.uint64(): "decimal(20,0)",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.binary(): "binary",
    pa.large_binary(): "binary",
    pa.date32(): "date",
}
BY_SPARK = "by Spark"  # of a type (decimal, timestamp, void) that only Spark infers and reads
_NUMBER = re.compile(r"[\x00-\x20]*[+-]?(NaN|Infinity|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)[\x00-\x20]*")
_ONLY_SPARK = re.compile(  # numbers without a fraction that are no integers, Java's other numbers, times
    r"[+-]?\d+\.?|[+-]?[\d.]+[eE][+-]?\d+|[\x00-\x20]*[+-]?(NaN|Infinity|[\d.]+([eE][+-]?\d+)?)[dDfF][\x00-\x20]*|"
    r"[\x00-\x20]*[+-]?0[xX].*|[+-]?\d+-\d+-\d+[ T].*"
)


class Unread(Exception):  # noqa: N818 (not a user's mistake)
    """The reason why a stream's columns cannot be read without Spark."""


def read_schema(stream: Stream) -> Schema:
    """Return the stream's columns and types; raise Unread where they cannot be read here and now."""
    if stream.sql:
        raise Unread("it is made by SQL")
    if stream.format != "parquet" or "://" in stream.path:
        raise Unread(f"only local Parquet files are read here, and it is {stream.format} at {stream.written}")
    root = Path(stream.path)
    try:
        names = [""] if root.is_file() else _data_names(stream, root)
        with pq.ParquetFile(root / names[0]) as opened:
            types = {field.name: spark_type(field.type) for field in opened.schema_arrow}
            types |= dict.fromkeys(int96_columns(opened), "timestamp")
    except HeddleError as error:
        raise Unread(str(error)) from None
    except (OSError, IndexError, pa.ArrowException):
        raise Unread(f"no Parquet files at {stream.path} yet") from None
    by_folder = {} if reads_below(stream) else folder_columns(names)
    return types | {column: "unknown" if kind == BY_SPARK else kind for column, kind in by_folder.items()}


def _data_names(stream: Stream, root: Path) -> list[str]:
    files = (path for path in root.rglob("*") if path.is_file())
    candidates = (
        Found(path.relative_to(root).as_posix(), path.stat().st_mtime_ns // 1_000_000 * 1000) for path in files
    )
    return sorted(select_files(stream, candidates))


def int96_columns(file: Any) -> list[str]:
    """Return the columns of an open Parquet file that hold times as INT96: Spark takes them for instants."""
    columns = (file.schema.column(number) for number in range(len(file.schema)))
    return [column.name for column in columns if column.physical_type == "INT96" and column.path == column.name]


def names_alike(names: Iterable[str]) -> list[str]:
    """Return the names that differ in case alone, and so are one to Spark.

    >>> names_alike(["x", "y", "X"])
    ['x', 'X']
    """
    spellings: dict[str, list[str]] = {}
    for name in names:
        spellings.setdefault(name.lower(), []).append(name)
    return [name for alike in spellings.values() if len(alike) > 1 for name in alike]


def spark_type(arrow: Any) -> str:
    """Return the name of the type as which Spark reads an Arrow type of a Parquet file."""
    if pa.types.is_dictionary(arrow):
        arrow = arrow.value_type
    if pa.types.is_timestamp(arrow) and arrow.unit != "ns":
        return "timestamp" if arrow.tz else "timestamp_ntz"
    if pa.types.is_decimal128(arrow):
        return f"decimal({arrow.precision},{arrow.scale})"
    return _NAMES.get(arrow, "unknown")


def check_time(stream: Stream, schema: Schema) -> None:
    """Refuse a stream whose time column is missing or no timestamp."""
    time_type = schema.get(stream.time)
    if time_type is None:
        from optimizer.catalog.spark_types.results import unknown_column

        raise unknown_column(stream.time, schema)
    if not time_type.startswith("timestamp"):
        right = "Spark's window needs a timestamp of milliseconds or microseconds"
        raise Mistake(f"the time column {show(stream.time)} is {time_type}", right, "time")


def folder_columns(names: Iterable[str]) -> dict[str, str]:
    """Return the columns that the folders of some files name, and the type that Spark infers of each.

    >>> folder_columns(["day=2024-01-31/hour=7/a.parquet", "day=2024-01-31/hour=08/a.parquet"])
    {'day': 'date', 'hour': 'int'}
    """
    values: dict[str, set[str]] = {}
    for folder in sorted({name.rpartition("/")[0] for name in names}):
        for column, value in read_folders(f"{folder}/").values.items():
            values.setdefault(column, set()).add(value)
    return {column: folder_type(texts) for column, texts in values.items()}


def folder_type(values: Iterable[str]) -> str:
    """Return the type that Spark infers of all values of a column, as written.

    >>> [folder_type(values) for values in (["1", "02"], ["1", "2.5"], ["2024-01-31"], ["1", "a"])]
    ['int', 'double', 'date', 'string']
    """
    kinds = {_type_of(value) for value in values} - {""}
    if BY_SPARK in kinds or not kinds:
        return "string" if "string" in kinds else BY_SPARK
    if len(kinds) == 1:
        return kinds.pop()
    widest = {frozenset({"int", "bigint"}): "bigint", frozenset({"int", "double"}): "double"}
    return widest.get(frozenset(kinds), "string")


def folder_value(value: str, kind: str) -> Any:
    """Return a folder's value in the type of its column; ValueError where it is none."""
    if value == NULL_FOLDER:
        return None
    if kind in ("int", "bigint"):
        return int(value)
    if kind == "double":
        return float(value.strip())
    return date.fromisoformat(value) if kind == "date" else unescape(value)


def _type_of(value: str) -> str:
    """Return the type of one value; "" of a null."""
    if value == NULL_FOLDER:
        return ""
    if re.fullmatch(r"[+-]?\d+", value) and -(1 << 63) <= int(value) < 1 << 63:
        return "int" if -(1 << 31) <= int(value) < 1 << 31 else "bigint"
    if _ONLY_SPARK.fullmatch(unescape(value)):
        return BY_SPARK
    if _NUMBER.fullmatch(value):
        return "double"
    try:
        return "date" if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value) and date.fromisoformat(value) else "string"
    except ValueError:
        return "string"
