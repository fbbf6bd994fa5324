"""The types of a stream's expressions and columns, as the schema of one of its Parquet files gives them."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from jobs.engine.events.expressions import WIDTHS, Columns, NotExact, evaluate
from jobs.engine.events.parquet import event_schema, open_parquet
from jobs.engine.program.compile import expressions, group_by_columns
from jobs.engine.program.spark_types import plain_type, require_key
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Stream
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan

KEY_TYPES = (*WIDTHS, pa.string(), pa.binary(), pa.date32(), pa.bool_(), pa.timestamp("us", "UTC"), pa.timestamp("us"))


def file_types(catalog: Catalog, plan: Plan, path: str) -> dict[str, pa.DataType]:
    """Return the types of all expressions and columns by one file's schema; NotExact where Spark must evaluate them."""
    if not catalog.streams[plan.stream].in_parquet:
        raise NotExact("a stream that is not read from Parquet files")
    with open_parquet(path) as file:
        empty = event_schema(path, file).empty_table()
    columns = {name: empty[name] for name in empty.column_names}
    require_time(catalog.streams[plan.stream], {name: column.type for name, column in columns.items()})
    values, predicates = expressions(catalog, plan)
    types = {sql: _type(sql, columns) for sql in (*values, *predicates)}
    for sql in predicates:
        if types[sql] != pa.bool_():
            raise NotExact(sql)
    for name in named_columns(catalog, plan):
        if name in columns:
            require_key(name, columns[name].type)
        if name not in columns or plain_type(columns[name].type) not in KEY_TYPES:
            raise NotExact(name)
    return {name: column.type for name, column in columns.items()} | types


def require_time(stream: Stream, types: Mapping[str, pa.DataType]) -> None:
    """Refuse events whose time is missing or no timestamp: windows would be of something else."""
    kind = types.get(stream.time)
    if kind is None:
        raise HeddleError(f"the events of {stream.name} have no column {stream.time}; mend `time` in the catalog")
    if not pa.types.is_timestamp(kind):
        raise HeddleError(
            f"the time of {stream.name}, {stream.time}, is a {kind}; it must be a timestamp: name another column, or "
            "make one by the SQL of another stream"
        )


def _type(sql: str, columns: Columns) -> pa.DataType:
    try:
        return evaluate(sql, columns).type
    except NotExact as reason:
        raise NotExact(sql if str(reason) == sql else f"{sql} ({reason})") from None


def named_columns(catalog: Catalog, plan: Plan) -> list[str]:
    """Return the time and the group-by columns, as the catalog names them."""
    return [catalog.streams[plan.stream].time, *group_by_columns(catalog, plan)]
