"""The two lanes events come in by: files read by the tasks themselves, or any DataFrame Spark can make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from jobs.engine.compile import compile_program, expressions, group_by_columns
from jobs.engine.expressions import WIDTHS, Columns, NotExact, evaluate
from jobs.engine.foldable import woven
from jobs.engine.program import Program
from jobs.engine.source import opened
from jobs.engine.types import plain
from jobs.stream_frames import driver_of, events_of, file_frame
from jobs.unshared import unshared_types
from optimizer.catalog.catalog import Catalog
from optimizer.catalog.expressions import quote
from optimizer.catalog.query import Stream
from optimizer.errors import HeddleError
from optimizer.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Lane = Literal["file", "frame"]
KEY_TYPES = (*WIDTHS, pa.string(), pa.date32(), pa.bool_(), pa.timestamp("us", "UTC"), pa.timestamp("us"))


def file_types(catalog: Catalog, plan: Plan, path: str) -> dict[str, pa.DataType]:
    """The types of all expressions and columns, from one file's schema; NotExact where Spark must evaluate them."""
    if not catalog.streams[plan.stream].in_parquet:
        raise NotExact("a stream that is not read from Parquet files")
    with opened(path) as file:
        empty = file.schema_arrow.empty_table()
    columns = {name: empty[name] for name in empty.column_names}
    _require_time(catalog.streams[plan.stream], {name: column.type for name, column in columns.items()})
    values, predicates = expressions(catalog, plan)
    found = {sql: _type(sql, columns) for sql in (*values, *predicates)}
    for sql in predicates:
        if found[sql] != pa.bool_():
            raise NotExact(sql)
    for name in _named(catalog, plan):
        if name not in columns or plain(columns[name].type) not in KEY_TYPES:
            raise NotExact(name)
    return {name: column.type for name, column in columns.items()} | found


def _require_time(stream: Stream, types: Mapping[str, pa.DataType]) -> None:
    """Refuse events whose time is missing or no timestamp: windows would be of something else."""
    found = types.get(stream.time)
    if found is None:
        raise HeddleError(f"the events of {stream.name} have no column {stream.time}; mend `time` in the catalog")
    if not pa.types.is_timestamp(found):
        raise HeddleError(
            f"the time of {stream.name}, {stream.time}, is a {found}; it must be a timestamp: name another column, or "
            "make one by the SQL of another stream"
        )


def _type(sql: str, columns: Columns) -> pa.DataType:
    try:
        return evaluate(sql, columns).type
    except NotExact as reason:
        raise NotExact(sql if str(reason) == sql else f"{sql} ({reason})") from None


def _named(catalog: Catalog, plan: Plan) -> list[str]:
    """The time and the group-by columns, as the catalog names them."""
    return [catalog.streams[plan.stream].time, *group_by_columns(catalog, plan)]


def frame_types(catalog: Catalog, plan: Plan, frame: DataFrame) -> dict[str, pa.DataType]:
    """The types of all expressions and columns, from Spark's own analysis."""
    from pyspark.sql.pandas.types import to_arrow_schema

    values, predicates = expressions(catalog, plan)
    for sql in predicates:
        frame.where(sql)  # Spark refuses what is no condition
    names = _named(catalog, plan)
    texts = [*map(quote, names), *values]
    typed = to_arrow_schema(frame.selectExpr(*(f"{sql} AS v{i}" for i, sql in enumerate(texts))).schema, timezone="UTC")
    types = {name: field.type for name, field in zip([*names, *values], typed, strict=True)}
    _require_time(catalog.streams[plan.stream], types)
    return types


def choose(
    spark: SparkSession, catalog: Catalog, plan: Plan, files: Sequence[tuple[str, int]], forced: str
) -> tuple[Lane, Program, StructType | None]:
    """The file lane where it gives Spark's answers, else the frame lane; its program, and the schema of the files."""
    driver = driver_of(catalog, plan.stream)
    if forced != "frame":
        try:
            types = file_types(catalog, plan, files[0][0])
            if plan.unshared:
                types |= unshared_types(catalog, plan, file_frame(spark, driver, [files[0][0]]))
            return "file", compile_program(catalog, plan, types), None
        except NotExact as reason:
            if forced == "file":
                raise HeddleError(f"the file lane cannot evaluate {reason}; use --lane frame or auto") from None
    arrived = file_frame(spark, driver, [path for path, _ in files])
    frame = events_of(spark, catalog, plan.stream, arrived)
    types = frame_types(catalog, plan, frame)
    types |= unshared_types(catalog, woven(catalog, plan, types), frame)
    return "frame", compile_program(catalog, plan, types), arrived.schema
