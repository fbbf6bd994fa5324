"""The audit of a stream's emitted windows: sample them, recompute them on plain Spark, compare."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from expectations.report.audit import Audit
from expectations.sample.late_events import read_late_events
from expectations.sample.statements import audited_statements
from expectations.sample.windows import Part, Scope, choose_parts, sample_statements
from expectations.sides.engine import engine_rows
from expectations.sides.plain_spark import naive_recomputation
from expectations.sides.row import Sides
from expectations.sides.row_windows import numbered_events
from expectations.suites.validate import validate
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.statements import EvaluatedStatement
from jobs.host.storage import Storage
from optimizer.catalog.model.catalog import Catalog


def audit(
    spark: SparkSession, catalog: Catalog, stream: str, storage: Storage, manifest: Manifest, scope: Scope
) -> Audit:
    """Compare the emitted windows of a scope with what plain Spark answers."""
    statements = sample_statements(audited_statements(catalog, stream, storage, manifest), scope)
    in_time = [statement for statement in statements if not statement.window.rows]
    pairs = [_sides_in_time(spark, catalog, stream, storage, manifest, in_time, scope)]
    if len(in_time) < len(statements):
        events = numbered_events(spark, catalog, stream, storage, manifest)
        pairs += [events.sides(statement, scope) for statement in statements if statement.window.rows]
    ours, expected = (reduce(DataFrame.unionByName, frames) for frames in zip(*pairs, strict=True))
    # cut off from how they were made: Great Expectations asks dozens of questions, each planned anew
    sides = Sides(ours.localCheckpoint(), expected.localCheckpoint())
    checks, results = validate(sides)
    windows = sides.ours.select("query", "start").distinct().count()
    return Audit(stream, len(statements), windows, checks[0].rows, checks, results)


def _sides_in_time(
    spark: SparkSession,
    catalog: Catalog,
    stream: str,
    storage: Storage,
    manifest: Manifest,
    statements: list[EvaluatedStatement],
    scope: Scope,
) -> Sides:
    """Return both sides of the windows in time that end in a scope."""
    ours = engine_rows(spark, storage, manifest.results, statements)
    ours = ours.where((F.col("end") > scope.since) & (F.col("end") <= scope.until))
    parts = choose_parts(statements, ours, read_late_events(storage, manifest, catalog.streams[stream].time), scope)
    expected = naive_recomputation(spark, catalog, stream, storage, manifest).rows(parts)
    return Sides(_rows_in_parts(spark, ours, parts), expected)


def _rows_in_parts(spark: SparkSession, ours: DataFrame, parts: list[Part]) -> DataFrame:
    """Return the engine's rows in the windows of all parts."""
    if any(part.starts is None for part in parts):
        return ours
    pairs = [(query, start) for part in parts for query in part.statement.queries for start in part.starts or ()]
    wanted = spark.createDataFrame(pairs, "query string, start bigint")
    return ours.join(F.broadcast(wanted), ["query", "start"], "left_semi").select(*ours.columns)
