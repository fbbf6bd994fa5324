"""Columns that folders name (day=2024-01-31/): their values, and the types that Spark infers of all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from typing import Any

from optimizer.catalog.model.source_files import NULL_FOLDER, read_folders, unescape

BY_SPARK = "by Spark"  # of a type (decimal, timestamp, void) that only Spark infers and reads
_NUMBER = re.compile(r"[\x00-\x20]*[+-]?(NaN|Infinity|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)[\x00-\x20]*")
_ONLY_SPARK = re.compile(  # numbers without a fraction that are no integers, Java's other numbers, times
    r"[+-]?\d+\.?|[+-]?[\d.]+[eE][+-]?\d+|[\x00-\x20]*[+-]?(NaN|Infinity|[\d.]+([eE][+-]?\d+)?)[dDfF][\x00-\x20]*|"
    r"[\x00-\x20]*[+-]?0[xX].*|[+-]?\d+-\d+-\d+[ T].*"
)


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
