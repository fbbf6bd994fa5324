"""The two lanes events come in by: files read by the tasks themselves, or any DataFrame Spark can make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from jobs.engine.events.expressions import NotExact
from jobs.engine.events.file_types import file_types, named_columns, require_time
from jobs.engine.program.compile import compile_program, expressions
from jobs.engine.program.definition import move_unfoldable
from jobs.engine.program.program import Program
from jobs.spark.stream_frames import driver_of, events_of, file_frame
from jobs.spark.unshared import unshared_types
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.sql.expressions import quote
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Lane = Literal["file", "frame"]


def frame_types(catalog: Catalog, plan: Plan, frame: DataFrame) -> dict[str, pa.DataType]:
    """Return the types of all expressions and columns, from Spark's own analysis."""
    from pyspark.sql.pandas.types import to_arrow_schema

    values, predicates = expressions(catalog, plan)
    for sql in predicates:
        frame.where(sql)  # Spark refuses what is no condition
    names = named_columns(catalog, plan)
    texts = [*map(quote, names), *values]
    typed = to_arrow_schema(frame.selectExpr(*(f"{sql} AS v{i}" for i, sql in enumerate(texts))).schema, timezone="UTC")
    types = {name: field.type for name, field in zip([*names, *values], typed, strict=True)}
    require_time(catalog.streams[plan.stream], types)
    return types


def choose_lane(
    spark: SparkSession, catalog: Catalog, plan: Plan, files: Sequence[tuple[str, int]], forced: str
) -> tuple[Lane, Program, StructType | None]:
    """Choose the file lane where it gives Spark's answers, else the frame lane; return its program and schema, too."""
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
    types |= unshared_types(catalog, move_unfoldable(catalog, plan, types), frame)
    return "frame", compile_program(catalog, plan, types), arrived.schema
