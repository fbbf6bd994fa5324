"""The audit of a stream's emitted windows: sample them, ask plain Spark, compare."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from expectations.report.audit import Audit
from expectations.sample.late_events import missed_events
from expectations.sample.statements import audited_statements
from expectations.sample.windows import Part, Scope, parts, statements
from expectations.sides.engine import engine_rows
from expectations.sides.plain_spark import naive
from expectations.sides.row import Sides
from expectations.sides.row_windows import in_rows
from expectations.suites.validate import validate
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.statements import EvaluatedStatement
from jobs.host.storage import Storage
from optimizer.catalog.model.catalog import Catalog


def audit(
    spark: SparkSession, catalog: Catalog, stream: str, storage: Storage, manifest: Manifest, scope: Scope
) -> Audit:
    """Audit the windows of a scope."""
    asked = statements(audited_statements(catalog, stream, storage, manifest), scope)
    timed = [each for each in asked if not each.window.rows]
    found = [_in_time(spark, catalog, stream, storage, manifest, timed, scope)]
    if len(timed) < len(asked):
        numbered = in_rows(spark, catalog, stream, storage, manifest)
        found += [numbered.sides(each, scope) for each in asked if each.window.rows]
    ours, expected = (reduce(DataFrame.unionByName, frames) for frames in zip(*found, strict=True))
    # cut off from how they were made: Great Expectations asks dozens of questions, each planned anew
    sides = Sides(ours.localCheckpoint(), expected.localCheckpoint())
    checks, results = validate(sides)
    windows = sides.ours.select("query", "start").distinct().count()
    return Audit(stream, len(asked), windows, checks[0].rows, checks, results)


def _in_time(
    spark: SparkSession,
    catalog: Catalog,
    stream: str,
    storage: Storage,
    manifest: Manifest,
    asked: list[EvaluatedStatement],
    scope: Scope,
) -> Sides:
    """Both sides of the windows in time that end in a scope."""
    ours = engine_rows(spark, storage, manifest.results, asked)
    ours = ours.where((F.col("end") > scope.since) & (F.col("end") <= scope.until))
    looked_at = parts(asked, ours, missed_events(storage, manifest, catalog.streams[stream].time), scope)
    expected = naive(spark, catalog, stream, storage, manifest).rows(looked_at)
    return Sides(_chosen(spark, ours, looked_at), expected)


def _chosen(spark: SparkSession, ours: DataFrame, looked_at: list[Part]) -> DataFrame:
    """The engine's rows in the windows that are looked at."""
    if any(part.starts is None for part in looked_at):
        return ours
    pairs = [(query, start) for part in looked_at for query in part.asked.queries for start in part.starts or ()]
    wanted = spark.createDataFrame(pairs, "query string, start bigint")
    return ours.join(F.broadcast(wanted), ["query", "start"], "left_semi").select(*ours.columns)
