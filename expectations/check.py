"""Audit a stream's emitted windows, then publish: what `heddle check` and a scheduled task call.

An audit samples the windows, recomputes them on plain Spark and compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from expectations.data_docs import write_docs
from expectations.publish import publish_or_quarantine
from expectations.sample.late_events import read_late_events
from expectations.sample.statements import audited_statements
from expectations.sample.windows import STATEMENTS, Part, Scope, choose_parts, sample_statements
from expectations.sides.engine import engine_rows
from expectations.sides.plain_spark import naive_recomputation
from expectations.sides.row import Sides
from expectations.sides.row_windows import numbered_events
from expectations.suites.validate import Check, sentences, validate
from jobs.engine.warehouse.ledger import Ledger, newest_ledger
from jobs.engine.warehouse.lifecycle import evaluated_manifest, stream_storage
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.statements import EvaluatedStatement
from jobs.host.storage import Storage
from jobs.spark.errors import as_user_error
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
        """Return the audit as JSON takes it."""
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
        """Return what Great Expectations says is expected, by check."""
        return sentences(self.results)


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


DOCS = "docs"
ADAPTIVE = "spark.sql.adaptive.enabled"
SAMPLE = 5


@dataclass(frozen=True)
class Choice:
    """How much an audit looks at, and where it writes its page."""

    sample: int = SAMPLE  # windows of each query
    seed: int | None = None  # the number of the newest batch, when left out
    everything: bool = False
    docs: str = ""
    statements: int = STATEMENTS  # that are looked at, others with every seed


@dataclass(frozen=True)
class Verdict:
    """What an audit found, and what it was an audit of."""

    audit: Audit
    page: str
    ledger: Ledger
    manifest: Manifest

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON takes it: enough to publish by."""
        numbers = {"ledger": self.ledger.sequence, "manifest": self.manifest.sequence}
        return {**self.audit.to_dict(), "page": self.page, **numbers}


@dataclass(frozen=True)
class Outcome:
    """An audit, where its page is, and what batches of the batches that waited for it."""

    audit: Audit
    page: str
    published: list[int]
    quarantined: list[int]  # by this audit or by one before it

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON takes it."""
        batches = {"published": self.published, "quarantined": self.quarantined}
        return {**self.audit.to_dict(), "page": self.page, **batches}


def check(spark: SparkSession, catalog: Catalog, stream: str, warehouse: str, choice: Choice = Choice()) -> Outcome:  # noqa: B008 (frozen)
    """Audit what waits to be published, or all that was emitted; then publish or quarantine what waited."""
    verdict = examine(spark, catalog, stream, warehouse, choice)
    storage, passed = stream_storage(warehouse, stream), verdict.audit.passed
    published, quarantined = publish_or_quarantine(storage, verdict.ledger, verdict.manifest, passed)
    return Outcome(verdict.audit, verdict.page, published, quarantined)


def examine(spark: SparkSession, catalog: Catalog, stream: str, warehouse: str, choice: Choice = Choice()) -> Verdict:  # noqa: B008 (frozen)
    """Audit what waits to be published, or all that was emitted, and decide nothing."""
    catalog.of_stream(stream)
    storage = stream_storage(warehouse, stream)
    ledger = newest_ledger(storage)
    manifest = evaluated_manifest(warehouse, stream)
    folder = choice.docs or _docs(storage, manifest)
    try:
        with _planned_once(spark):
            outcome = audit(spark, catalog, stream, storage, manifest, _scope(ledger, manifest, choice))
    except Exception as error:
        raise as_user_error(spark, error) from None
    return Verdict(outcome, write_docs(outcome, folder), ledger, manifest)


@contextmanager
def _planned_once(spark: SparkSession) -> Iterator[None]:
    """Switch adaptive planning off: an audit is one long union, which would be planned anew after every stage."""
    before = spark.conf.get(ADAPTIVE)
    spark.conf.set(ADAPTIVE, "false")
    try:
        yield
    finally:
        spark.conf.set(ADAPTIVE, before or "true")


def _scope(ledger: Ledger, manifest: Manifest, choice: Choice) -> Scope:
    waiting = ledger.in_use and not choice.everything and ledger.pending(manifest.results)
    since = ledger.watermark if waiting else BEGINNING
    seed = manifest.batch if choice.seed is None else choice.seed
    return Scope(since, manifest.watermark, choice.sample, seed, choice.everything, choice.statements)


def _docs(storage: Storage, manifest: Manifest) -> str:
    """Return a folder for the audit of this manifest alone, so that the page of a quarantined batch stays."""
    if not storage.local:
        raise HeddleError(f"{storage.root}: is not on this machine; say with --docs where the page shall go")
    return storage.path(f"{DOCS}/{manifest.sequence:012d}")
