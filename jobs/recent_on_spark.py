"""A stream's newest events by Spark, for the planner: of streams by SQL, and where only Spark evaluates a predicate."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from jobs.engine.program import ALL, TIME, Program
from jobs.session import prepare_environment, spark_session
from jobs.stream_frames import stream_frame
from optimizer.catalog.catalog import Catalog
from optimizer.catalog.expressions import quote


def newest_tables(catalog: Catalog, stream: str, files: Sequence[str], program: Program, most: int) -> list[pa.Table]:
    """Times, keys and predicates of the events that some files bring; none where Spark refuses what they ask."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    if SparkSession.getActiveSession() is None:
        prepare_environment()
    spark = SparkSession.getActiveSession() or spark_session("local[2]")
    keys = {name for grouping in program.groupings for name in grouping.keys if name != ALL}
    columns = [f"{quote(program.time)} AS {TIME}", *map(quote, sorted(keys))]
    tests = [f"({test.sql}) AS {test.name}" for test in program.predicates]
    try:
        frame = stream_frame(spark, catalog, stream, files)
        return [frame.selectExpr(*columns, *tests).limit(most).toArrow()]
    except PySparkException:  # the evaluation will complain where it has to
        return []
