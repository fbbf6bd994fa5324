"""The audit of a stream's emitted windows: sample them, ask plain Spark, compare."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from expectations.asked import Asked, asked_of
from expectations.frames import Sides
from expectations.in_rows import in_rows
from expectations.missed import missed_events
from expectations.naive import naive
from expectations.ours import engine_rows
from expectations.sample import Part, Scope, parts, statements
from expectations.validate import Check, sentences, validate
from jobs.engine.manifest import Manifest
from jobs.engine.storage import Storage
from optimizer.catalog.catalog import Catalog


@dataclass
class Audit:
    """What an audit looked at and what it found."""

    stream: str
    statements: int
    windows: int
    rows: int
    checks: list[Check]
    results: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def passed(self) -> bool:
        """Whether every expectation was met."""
        return all(check.passed for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {
            "stream": self.stream,
            "passed": self.passed,
            "statements": self.statements,
            "windows": self.windows,
            "rows": self.rows,
            "checks": [check.to_dict() for check in self.checks],
        }

    @property
    def sentences(self) -> dict[str, str]:
        """What Great Expectations says is expected, by check."""
        return sentences(self.results)


def audit(
    spark: SparkSession, catalog: Catalog, stream: str, storage: Storage, manifest: Manifest, scope: Scope
) -> Audit:
    """Audit the windows of a scope."""
    asked = statements(asked_of(catalog, stream, storage, manifest), scope)
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
    asked: list[Asked],
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
