"""Writes files of events in every format that Spark reads from a folder, by a layout of names and types."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import orc

from optimizer.catalog.sql.expressions import quote
from tests.jobs.engine.events.language.writer import COLUMNS
from tests.worlds.streams import Row, instant

TIME_TYPES: dict[str, pa.DataType] = {
    "instants": pa.timestamp("us", "UTC"),
    "milliseconds": pa.timestamp("ms", "UTC"),
    "local times": pa.timestamp("us"),
    "texts": pa.timestamp("us"),  # which a schema reads as instants, in the zone
    "INT96": pa.timestamp("ns", "UTC"),
}
BYTES = [b"", b"\x00", b"a", b"\xff\xfe", b"\xc3"]
WITH_BYTES = {**COLUMNS, "w": (pa.binary(), BYTES)}
# the columns that folders name, and the values they give them
FOLDER_VALUES: dict[str, list[str]] = {
    "part": ["1", "2", "03"],
    "word": ["a b", "\u00e9", "__HIVE_DEFAULT_PARTITION__", "10%25", "x%2Fy"],
    "day": ["2024-02-29", "1969-12-31"],
    "moment": ["2024-01-01 10%3A00%3A00", "2024-07-01 00%3A00%3A00"],
    "amount": ["1.50", "2", "-0.25"],
    "truth": ["true", "false"],
    "wide": ["1", "3000000000"],
    "large": ["12345678901234567890", "1"],
    "j": ["5", "7"],  # a column that the files have, too
}
SPARK_TYPES: dict[pa.DataType, str] = {
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "STRING",
    pa.date32(): "DATE",
    pa.bool_(): "BOOLEAN",
    pa.timestamp("us", "UTC"): "TIMESTAMP",
    pa.timestamp("us"): "TIMESTAMP_NTZ",
}


@dataclass(frozen=True)
class Layout:
    """How the events are laid out in files: names of columns and files, types, formats and options."""

    names: Mapping[str, str]  # by column; `ts` is the time
    columns: tuple[str, ...]
    time: str  # of TIME_TYPES
    files: tuple[str, ...]  # their names below the folder of events, in the order they arrive
    options: Mapping[str, str] = field(default_factory=dict)
    rows_per_group: int = 1 << 20
    dictionaries: bool = True
    format: str = "parquet"
    folder_names: Mapping[str, str] = field(default_factory=dict)  # of the columns that folders name

    @property
    def folders(self) -> tuple[str, ...]:
        """The columns that folders name."""
        return tuple(self.folder_names)

    def type_of(self, column: str) -> pa.DataType:
        """Return the type of a column in the files."""
        return TIME_TYPES[self.time] if column == "ts" else WITH_BYTES[column][0]

    def schema_text(self) -> str:
        """Return the columns as the option `schema` takes them."""
        types = {name: _spark_type(self.type_of(name)) for name in self.in_order}
        if self.time == "texts":
            types["ts"] = "TIMESTAMP"
        return ", ".join(f"{quote(self.names[name])} {kind}" for name, kind in types.items())

    @property
    def in_order(self) -> tuple[str, ...]:
        """The columns of a file, in its order."""
        return ("ts", *self.columns)


def _spark_type(kind: pa.DataType) -> str:
    return f"DECIMAL({kind.precision}, {kind.scale})" if pa.types.is_decimal(kind) else SPARK_TYPES[kind]


def table_of_rows(rows: tuple[Row, ...], layout: Layout) -> pa.Table:
    """Return events as they stand in a file; a column that the folders name may be among them."""
    time = TIME_TYPES[layout.time]
    moments = [instant(row["ts"]) for row in rows]
    if time.tz is None:
        moments = [moment.replace(tzinfo=None) if moment else None for moment in moments]
    values: dict[str, pa.Array] = {
        layout.names["ts"]: pa.array(moments, pa.timestamp("us", time.tz)).cast(time, safe=False)
    }
    for name in layout.columns:
        values[layout.names[name]] = pa.array([row[name] for row in rows], WITH_BYTES[name][0])
    return pa.table(values)


def write_file(path: Path, rows: tuple[Row, ...], layout: Layout) -> None:
    """Write a file of events."""
    path.parent.mkdir(parents=True, exist_ok=True)
    WRITERS[layout.format](path, table_of_rows(rows, layout), layout)


def _write_parquet(path: Path, table: pa.Table, layout: Layout) -> None:
    pq.write_table(
        table,
        path,
        row_group_size=layout.rows_per_group,
        use_dictionary=layout.dictionaries,
        use_deprecated_int96_timestamps=layout.time == "INT96",
        coerce_timestamps=None,
    )


def _write_orc(path: Path, table: pa.Table, layout: Layout) -> None:
    for place, column in enumerate(table.columns):
        if pa.types.is_timestamp(column.type):  # Arrow writes parts of a second before 1970 as Java reads none
            early = pc.less(column.cast(pa.int64()), 0)
            whole = pc.floor_temporal(column, unit="second")
            table = table.set_column(place, table.schema.field(place), pc.if_else(early, whole, column))
    orc.write_table(table, str(path))


def _write_csv(path: Path, table: pa.Table, layout: Layout) -> None:
    separator, null = layout.options.get("sep", ","), layout.options.get("nullValue", "")
    lines = [separator.join(_quoted(name) for name in table.column_names)] if "header" in layout.options else []
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    lines += [separator.join(null if value is None else _cell(value) for value in row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _write_json(path: Path, table: pa.Table, layout: Layout) -> None:
    lines = []
    for row in table.to_pylist():
        fields = (f"{_quoted(name)}: {_cell(value)}" for name, value in row.items() if value is not None)
        lines.append(f"{{{', '.join(fields)}}}\n")
    path.write_text("".join(lines), encoding="utf-8")


def _quoted(text: str) -> str:
    r"""Return a text in quotes, as both CSV with Spark's escape character and JSON have it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def _cell(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float() if math.isnan(value):
            return '"NaN"'
        case float() if math.isinf(value):
            return '"Infinity"' if value > 0 else '"-Infinity"'
        case str():
            return _quoted(value)
        case datetime() | date():
            return f'"{value.isoformat()}"'
        case _:
            return str(value)


WRITERS: dict[str, Callable[[Path, pa.Table, Layout], None]] = {
    "parquet": _write_parquet,
    "orc": _write_orc,
    "csv": _write_csv,
    "json": _write_json,
}
