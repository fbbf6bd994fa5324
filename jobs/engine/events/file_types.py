"""The types of a stream's expressions and columns, as the schema of one of its Parquet files gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from jobs.engine.events.expressions import Columns, NotExact, compile_expression, parse_cached
from jobs.engine.events.language.times import OPEN
from jobs.engine.events.language.vectors import WIDTHS
from jobs.engine.events.parquet_file import event_schema, open_parquet
from jobs.engine.program.compile import expressions, group_by_columns
from jobs.engine.program.queries import inputs_of
from jobs.engine.program.spark_types import plain_type, require_key
from jobs.engine.sources import list_input_files, table_columns
from jobs.engine.sources.contract import ARROW, TableColumns, folder_types
from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import UTC, Stream
from optimizer.catalog.spark_types.parquet import BY_SPARK, names_alike
from optimizer.catalog.sql.expressions import quote
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan
from optimizer.plan.measures import demands_of

KEY_TYPES = (
    *WIDTHS,
    pa.float32(),
    pa.float64(),
    pa.bool_(),
    pa.string(),
    pa.binary(),
    pa.date32(),
    pa.timestamp("us", "UTC"),
    pa.timestamp("us"),
)


@dataclass(frozen=True)
class FileTypes:
    """The types of what the file lane evaluates exactly, and why not the rest: of expressions, predicates and columns,
    by their SQL, which tells the column `x + y` from the sum."""

    types: dict[str, pa.DataType]
    reasons: dict[str, str]


def file_types(catalog: Catalog, plan: Plan, path: str) -> dict[str, pa.DataType]:
    """Return the types of all expressions and columns by one file's schema; NotExact where Spark must evaluate one."""
    types_and_reasons = exact_types(catalog, plan, path)
    for reason in types_and_reasons.reasons.values():
        raise NotExact(reason)
    return types_and_reasons.types


def exact_types(catalog: Catalog, plan: Plan, path: str, knows_clocks: bool = True) -> FileTypes:
    """Return the types of what the file lane evaluates exactly, by one file's schema, and why it leaves the rest."""
    texts = (*expressions(catalog, plan), named_columns(catalog, plan))
    return _exact_types(catalog.streams[plan.stream], path, *texts, knows_clocks)


def reasons_in_catalog(catalog: Catalog, stream: str, path: str) -> dict[str, str]:
    """Return why the file lane leaves some of what a stream's queries ask to Spark, whatever their plan is."""
    table = catalog.of_stream(stream)  # its shapes are those of all streams
    own = (table.shapes[code] for code in sorted(set(table.codes.tolist())))
    shapes = [shape for shape in own if AGGREGATES[shape.aggregate].shared]
    measures = [measure for shape in shapes for measure in demands_of(shape)]
    values = {sql for measure in measures for sql in inputs_of(measure)}
    predicates = {measure.where for measure in measures} - {""}
    keys = {key for shape in shapes for key in shape.group_by}
    return _exact_types(catalog.streams[stream], path, sorted(values), sorted(predicates), sorted(keys)).reasons


def _exact_types(
    stream: Stream,
    path: str,
    values: Sequence[str],
    predicates: Sequence[str],
    names: Sequence[str],
    knows_clocks: bool = True,
) -> FileTypes:
    if not stream.in_parquet:
        raise NotExact("a stream that is not read from Parquet files")
    if stream.options.get("mergeSchema") == "true":
        raise NotExact("a stream whose files may have columns that others lack (mergeSchema)")
    table = table_columns(stream)
    columns: dict[str, pa.Array | None]
    if table is not None:
        _require_read(table, (*values, *predicates, *map(quote, names)))
        columns = {name: pa.array([], kind) for name, kind in table.types.items()}
    else:
        with open_parquet(path) as file:
            empty = event_schema(path, file).empty_table()
        columns = {name: empty[name] for name in empty.column_names} | folder_arrays(stream, path, empty.column_names)
    return _types_of_columns(stream, columns, values, predicates, names, knows_clocks)


def _require_read(table: TableColumns, texts: Sequence[str]) -> None:
    """Refuse expressions over columns that a table lacks, or that nobody reads of it: not Spark either, which has no
    type for them."""
    own = {name.lower() for name in (*table.types, *table.unread)}
    for text in texts:
        tree = parse_cached(text)
        has_variables = tree.find(exp.Lambda) is not None  # they look like columns
        for column in tree.find_all(exp.Column):
            name = column.parts[0].name
            if name.lower() not in own and not has_variables:
                raise HeddleError(f"{text}: the events have no column {name}; they have {', '.join(table.types)}")
            if name in table.unread:
                raise HeddleError(
                    f"{text}: the column {name} is a {table.unread[name]}, for which Spark has no type; add another "
                    "column to the table"
                )


def table_types(catalog: Catalog, plan: Plan, schema: pa.Schema) -> dict[str, pa.DataType]:
    """Return the types of all expressions and columns of a table in memory; NotExact where Spark must evaluate one."""
    empty = schema.empty_table()
    columns = {name: empty[name] for name in empty.column_names}
    stream, texts = catalog.streams[plan.stream], (*expressions(catalog, plan), named_columns(catalog, plan))
    types_and_reasons = _types_of_columns(stream, columns, *texts)
    for reason in types_and_reasons.reasons.values():
        raise NotExact(reason)
    return types_and_reasons.types


def _types_of_columns(
    stream: Stream,
    arrays: Mapping[str, pa.Array | None],
    values: Sequence[str],
    predicates: Sequence[str],
    names: Sequence[str],
    knows_clocks: bool = True,
) -> FileTypes:
    columns = {name: array for name, array in arrays.items() if array is not None}
    types = {quote(name): column.type for name, column in columns.items()}
    require_time(stream, types)
    reasons = {}
    for sql in (*values, *predicates):
        try:
            types[sql] = _type(sql, columns, stream.zone if knows_clocks else OPEN)
        except NotExact as reason:
            reasons[sql] = str(reason)
    reasons |= {sql: f"{sql} (a {types[sql]})" for sql in predicates if sql in types and types[sql] != pa.bool_()}
    for name in names:
        kind = types.get(quote(name))
        if kind is None:
            reasons[quote(name)] = f"{name} (the first file has no such column)"
            continue
        require_key(name, kind)
        if not _is_key(plain_type(kind)):
            reasons[quote(name)] = f"{name} (a {kind} as a key)"
    return FileTypes(types, reasons)


def _is_key(kind: pa.DataType) -> bool:
    """Return whether values of a type are grouped here as Spark groups them."""
    return kind in KEY_TYPES or pa.types.is_decimal128(kind)


def folder_arrays(stream: Stream, path: str, names: Sequence[str]) -> dict[str, pa.Array | None]:
    """Return an empty array of the type of every column that folders name; None where only Spark reads it."""
    if "=" not in path.removeprefix(stream.path).rpartition("/")[0]:
        return {}
    types = folder_types(stream, list_input_files(stream))
    alike = names_alike([*(name for name in names if name not in types), *types])
    if alike:
        raise HeddleError(f"{path}: the columns {' and '.join(alike)} are one to Spark; rename one of them")
    return {name: None if kind == BY_SPARK else pa.array([], ARROW[kind]) for name, kind in types.items()}


def require_time(stream: Stream, types: Mapping[str, pa.DataType]) -> None:
    """Refuse events whose time is missing or no timestamp: windows would be of something else."""
    kind = types.get(quote(stream.time))
    if kind is None:
        raise HeddleError(f"the events of {stream.name} have no column {stream.time}; mend `time` in the catalog")
    if not pa.types.is_timestamp(kind):
        raise HeddleError(
            f"the time of {stream.name}, {stream.time}, is a {kind}; it must be a timestamp: name another column, or "
            "make one by the SQL of another stream"
        )
    if stream.zone != UTC and kind.tz is None:
        raise HeddleError(
            f"the time of {stream.name}, {stream.time}, is no instant (a timestamp_ntz) and has no zone: leave out "
            "`zone` in the catalog, or make an instant of it by the SQL of another stream"
        )


def _type(sql: str, columns: Columns, zone: str) -> pa.DataType:
    try:
        return compile_expression(sql, columns, zone).type
    except NotExact as reason:
        raise NotExact(sql if str(reason) == sql else f"{sql} ({reason})") from None


def named_columns(catalog: Catalog, plan: Plan) -> list[str]:
    """Return the time and the group-by columns, as the catalog names them."""
    return [catalog.streams[plan.stream].time, *group_by_columns(catalog, plan)]
