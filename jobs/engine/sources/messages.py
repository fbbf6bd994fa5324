"""Messages of a topic as columns: JSON or Avro, in the schema of the catalog; what does not fit is told apart."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pa_json

from jobs.engine.sources.contract import ARROW
from jobs.engine.sources.landing import PLACE
from optimizer.catalog.model.query import Stream
from optimizer.catalog.read.source_options import schema_columns
from optimizer.errors import HeddleError

Values = Sequence[bytes | None]
ZONED = r":\d{2}(\.\d+)?(Z|[+-]\d{2}(:?\d{2})?)$"
UNITS = {"seconds": 1_000_000, "milliseconds": 1000, "microseconds": 1}  # of times that are numbers
LONG = 300  # characters of a reason


@dataclass(frozen=True)
class Decoded:
    """Events in columns, the places of their messages, and why each of the others does not fit."""

    events: pa.Table
    places: list[int]
    malformed: dict[int, str]


def event_types(stream: Stream) -> dict[str, pa.DataType]:
    """Return the columns of a topic's events and their types, as the catalog has them."""
    types = {}
    for name, kind in schema_columns(stream.options["schema"]).items():
        if kind not in ARROW:
            raise HeddleError(
                f"stream {stream.name}: the column {name} of its schema is {kind}; use one of {', '.join(ARROW)}"
            )
        if name in PLACE.names:
            raise HeddleError(f"stream {stream.name}: {name} is Heddle's own; leave it out of `schema`")
        types[name] = ARROW[kind]
    return types


def decode_messages(stream: Stream, values: Values) -> Decoded:
    """Return the events of some messages, in columns.

    All of them are read at once; only where that fails, a look at each of them tells which are no JSON at all, and
    halving the rest finds those whose values are of other types."""
    types, malformed = event_types(stream), {}
    read = _avro_reader(stream, types) if stream.options.get("values") == "avro" else _json_reader(stream, types)
    places = [place for place, value in enumerate(values) if value]
    malformed = {place: "the message has no value" for place, value in enumerate(values) if not value}
    pieces: list[tuple[pa.Table, list[int]]] = []

    def take(part: list[int], is_checked: bool) -> None:
        try:
            pieces.append((read([values[place] or b"" for place in part], is_checked), part))
        except (ValueError, TypeError, OverflowError, EOFError, IndexError) as error:
            if len(part) == 1:
                malformed[part[0]] = _reason(error)
                return
            half = len(part) // 2
            take(part[:half], is_checked)
            take(part[half:], is_checked)

    if places:
        try:
            pieces.append((read([values[place] or b"" for place in places], False), places))
        except (ValueError, TypeError, OverflowError, EOFError, IndexError):
            wrong = {} if stream.options.get("values") == "avro" else _find_no_json(values, places)
            malformed |= wrong
            fitting = [place for place in places if place not in wrong]
            if fitting:
                take(fitting, True)
    tables = [table for table, _ in pieces]
    events = pa.concat_tables(tables) if tables else pa.schema(list(types.items())).empty_table()
    return Decoded(events, [place for _, part in pieces for place in part], dict(sorted(malformed.items())))


def _reason(error: Exception) -> str:
    line = (str(error).splitlines() or [""])[0].removeprefix("JSON parse error: ").removesuffix(" in row 0")
    return (line or type(error).__name__).replace("Column(/v/", "Column(")[:LONG]


Reader = Callable[[Sequence[bytes], bool], pa.Table]


def _json_reader(stream: Stream, types: Mapping[str, pa.DataType]) -> Reader:
    unit = UNITS.get(stream.options.get("timestamps", ""), 0)
    written_types = {name: _written_type(kind, unit) for name, kind in types.items()}
    schema = pa.schema([("v", pa.struct(list(written_types.items())))])

    def read(values: Sequence[bytes], is_checked: bool) -> pa.Table:
        """Return the values as columns; where nobody has looked whether each is JSON, nothing else may come of them.

        A message such as `{"x": 1}, "y": {}` is no JSON, and would be read as one with something beside it."""
        text = b'{"v":' + b'}\n{"v":'.join(values) + b"}"
        if not text.isascii():
            text.decode()
        options = pa_json.ParseOptions(schema, False, "ignore" if is_checked else "infer")
        table = pa_json.read_json(pa.BufferReader(text), pa_json.ReadOptions(False, len(text)), options)
        if table.num_rows != len(values) or table.column_names != ["v"]:
            raise ValueError("the message is no single JSON object")
        objects = table["v"].combine_chunks()
        if objects.null_count:
            raise ValueError("the message is null")
        columns = [_convert(pc.struct_field(objects, name), kind, stream.zone, unit) for name, kind in types.items()]
        return pa.Table.from_arrays(columns, schema=pa.schema(list(types.items())))

    return read


def _written_type(kind: pa.DataType, unit: int) -> pa.DataType:
    """Return the type in which JSON has a value: times are numbers where the catalog says so, else texts."""
    if pa.types.is_timestamp(kind):
        return pa.int64() if unit else pa.string()
    return pa.string() if pa.types.is_date(kind) else kind


def _convert(column: Any, kind: pa.DataType, zone: str, unit: int) -> Any:
    if pa.types.is_timestamp(kind) and unit:
        return pc.cast(pc.multiply_checked(column, unit), kind)
    if not pa.types.is_timestamp(kind):
        return column if column.type == kind else pc.cast(column, kind)
    is_zoned = pc.match_substring_regex(column, ZONED)
    if kind.tz is None or pc.all(is_zoned).as_py() is not False:
        return pc.cast(column, kind)
    here = pc.assume_timezone(pc.cast(pc.if_else(is_zoned, None, column), pa.timestamp("us")), zone)
    return pc.coalesce(pc.cast(pc.if_else(is_zoned, column, None), kind), pc.cast(here, kind))


def _find_no_json(values: Values, places: Sequence[int]) -> dict[int, str]:
    """Return why some messages are no JSON objects."""
    wrong = {}
    for place in places:
        try:
            if not isinstance(json.loads((values[place] or b"").decode()), dict):
                wrong[place] = "the message is no JSON object"
        except (ValueError, RecursionError) as error:
            wrong[place] = f"the message is no JSON: {_reason(error)}"
    return wrong


def _avro_reader(stream: Stream, types: Mapping[str, pa.DataType]) -> Reader:
    """Return a reader of Avro values, each written by the catalog's schema, after the header of a registry or not."""
    from fastavro import parse_schema, schemaless_reader

    schema = parse_schema(json.loads(stream.options["avroSchema"]))
    start = HEADER if stream.options.get("avroHeader") == "true" else 0

    def read(values: Sequence[bytes], is_checked: bool) -> pa.Table:
        rows = []
        for value in values:
            body = io.BytesIO(value)
            body.seek(start)
            rows.append(schemaless_reader(body, schema, None))
            if body.tell() != len(value):
                raise ValueError("the message has more or fewer bytes than its schema says")
        return pa.Table.from_pylist(rows, pa.schema(list(types.items())))

    return read


HEADER = 5  # bytes: a zero, and the number that a schema registry gave
