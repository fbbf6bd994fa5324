"""Audit a stream's emitted windows, then publish: what `heddle check` and a scheduled task call.

An audit samples the windows, recomputes them on plain Spark and compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from expectations.data_docs import DOCS, coverage, write_docs
from expectations.publish import publish_or_quarantine
from expectations.sample import (
    STATEMENTS,
    Part,
    Scope,
    audited_statements,
    choose_parts,
    read_late_events,
    sample_statements,
)
from expectations.sides.engine import EngineAnswers, engine_answers
from expectations.sides.plain_spark import naive_recomputation
from expectations.sides.row import COLUMNS, Sides, window_text
from expectations.sides.row_windows import numbered_events
from expectations.suites import SUITES
from expectations.suites.answers import BOTH
from expectations.suites.validate import FOLDER, Check, validate
from expectations.user_suites import answer_suites, event_suite
from jobs.engine.warehouse.ledger import Ledger, newest_ledger
from jobs.engine.warehouse.lifecycle import evaluated_manifest, stream_storage
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.statements import EvaluatedStatement
from jobs.host.say import Say, silent
from jobs.host.storage import Storage
from jobs.spark.session import as_user_error, in_zone
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHOWN = 3  # passing rows of each query that the page shows


@dataclass(frozen=True)
class Detail:
    """What an audit's page says beside the verdict: what was looked at, how it was chosen, what Spark was asked."""

    batch: int = -1
    since: int = BEGINNING  # windows that end after this time
    until: int = BEGINNING  # up to this one
    seed: int = 0
    statements: dict[str, list[str]] = field(default_factory=dict)  # by id: the windows that were recomputed
    evaluated: int = 0  # statements that there are
    examples: list[dict[str, str]] = field(default_factory=list)
    statements_run: list[str] = field(default_factory=list)


@dataclass
class Audit:
    """What an audit looked at and what it found."""

    stream: str
    statements: int
    windows: int
    rows: int
    checks: list[Check]
    detail: Detail = field(default_factory=Detail, repr=False)

    @property
    def passed(self) -> bool:
        """Whether everything that is critical was met; a warning is told and keeps nothing from being published."""
        return not any(check.blocks for check in self.checks)

    @property
    def summary(self) -> str:
        """The verdict in a few words: what Spark says, and what the users expected."""
        by_suite = {check.suite in SUITES for check in self.checks if check.blocks}
        if True in by_suite:
            return "NOT as plain Spark has them"
        return "as plain Spark has them, but NOT as the catalog expects" if by_suite else "all as plain Spark has them"

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


def audit(
    spark: SparkSession, catalog: Catalog, stream: str, storage: Storage, manifest: Manifest, scope: Scope, say: Say
) -> Audit:
    """Compare the emitted windows of a scope with what plain Spark answers, and what came with what users expect."""
    evaluated = audited_statements(catalog, stream, storage, manifest)
    statements = sample_statements(evaluated, scope)
    since = scope.since if manifest.corrected_after is None else min(scope.since, manifest.corrected_after)
    answers = engine_answers(storage, manifest.results, statements, since, scope.until)
    late = read_late_events(storage, manifest, catalog.streams[stream].time)
    in_time = [statement for statement in statements if not statement.window.rows]
    parts = choose_parts(in_time, partial(answers.starts, after=scope.since), late, scope)
    if since < scope.since:  # windows of batches before, which those that wait have corrected
        waiting = [file for file in newest_ledger(storage).pending(manifest.results) if file.revised]
        revised = engine_answers(storage, waiting, in_time, since, scope.since)
        parts += choose_parts(in_time, revised.starts, late, scope, due=False)
    naive = naive_recomputation(spark, catalog, stream, storage, manifest, say)
    pairs = [Sides(_rows_in_parts(answers, parts), naive.rows(parts))]
    if len(in_time) < len(statements):
        events = numbered_events(spark, catalog, stream, storage, manifest)
        pairs += [events.sides(statement, answers, scope) for statement in statements if statement.window.rows]
    ours, expected = (pd.concat(frames, ignore_index=True) for frames in zip(*pairs, strict=True))
    say("comparing both sides")
    users = answer_suites(catalog, evaluated, storage, manifest, scope)
    if catalog.streams[stream].expect:
        users["events"] = event_suite(spark, catalog, stream, storage, manifest)
    checks, comparison = validate(Sides(ours, expected), users, scope.folder)
    windows = len(ours[["query", "start"]].drop_duplicates())
    looked_at = {statement.statement.id: _windows(expected, statement) for statement in statements}
    detail = Detail(manifest.batch, scope.since, scope.until, scope.seed, looked_at, len(evaluated))
    detail = replace(detail, examples=_examples(comparison), statements_run=naive.statements_run)
    return Audit(stream, len(statements), windows, len(comparison), checks, detail)


def _rows_in_parts(answers: EngineAnswers, parts: list[Part]) -> pd.DataFrame:
    """Return the engine's rows in the windows of all parts."""
    starts: dict[str, set[int] | None] = {}
    statements = {part.statement.statement.id: part.statement for part in parts}
    for part in parts:
        id = part.statement.statement.id
        starts[id] = None if part.starts is None else {*(starts.get(id) or ()), *part.starts}
    frames = [answers.rows(statement, starts[id]) for id, statement in statements.items()]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS, dtype=object)


def _windows(rows: pd.DataFrame, statement: EvaluatedStatement) -> list[str]:
    """Return the windows of a statement that Spark has answered, as a person reads them."""
    own = rows[rows["query"] == statement.first.id][["start", "end", "rows"]].drop_duplicates().sort_values("start")
    return [window_text(*place) for place in own.itertuples(index=False, name=None)]


def _examples(comparison: pd.DataFrame) -> list[dict[str, str]]:
    """Return a few rows of each query that both sides have."""
    both = comparison[comparison["side"] == BOTH].groupby("query").head(SHOWN).sort_values(["query", "key", "window"])
    names = ["query", "key", "window", "ours", "spark"]
    return [dict(zip(names, row, strict=True)) for row in both[names].itertuples(index=False, name=None)]


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
    brief: bool = False  # whether fewer windows are taken of queries whose windows are long


USUAL = Choice()


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
    """An audit, where its page is, and which of the batches that waited for it are published or quarantined."""

    audit: Audit
    page: str
    published: list[int]
    quarantined: list[int]  # by this audit or by one before it

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON takes it."""
        batches = {"published": self.published, "quarantined": self.quarantined}
        return {**self.audit.to_dict(), "page": self.page, **batches}


def check(
    spark: SparkSession, catalog: Catalog, stream: str, warehouse: str, choice: Choice = USUAL, say: Say = silent
) -> Outcome:
    """Audit what waits to be published, or all that was emitted; then publish or quarantine what waited."""
    verdict = examine(spark, catalog, stream, warehouse, choice, say)
    storage, passed = stream_storage(warehouse, stream), verdict.audit.passed
    published, quarantined = publish_or_quarantine(storage, verdict.ledger, verdict.manifest, passed)
    return Outcome(verdict.audit, verdict.page, published, quarantined)


def examine(
    spark: SparkSession, catalog: Catalog, stream: str, warehouse: str, choice: Choice = USUAL, say: Say = silent
) -> Verdict:
    """Audit what waits to be published, or all that was emitted, and decide nothing."""
    catalog.of_stream(stream)
    spark = in_zone(spark, catalog.streams[stream].zone)
    storage = stream_storage(warehouse, stream)
    ledger = newest_ledger(storage)
    manifest = evaluated_manifest(warehouse, stream)
    folder = choice.docs or _docs(storage, manifest)
    try:
        with _planned_once(spark):
            scope = replace(_scope(storage, ledger, manifest, choice), folder=str(Path(folder, FOLDER)))
            outcome = audit(spark, catalog, stream, storage, manifest, scope, say)
    except Exception as error:
        raise as_user_error(spark, error) from None
    return Verdict(outcome, write_docs(outcome, folder), ledger, manifest)


@contextmanager
def _planned_once(spark: SparkSession) -> Iterator[None]:
    """Switch adaptive planning off: it would plan a small sample anew after every stage."""
    before = spark.conf.get(ADAPTIVE)
    spark.conf.set(ADAPTIVE, "false")
    try:
        yield
    finally:
        spark.conf.set(ADAPTIVE, before or "true")


def _scope(storage: Storage, ledger: Ledger, manifest: Manifest, choice: Choice) -> Scope:
    waiting = ledger.in_use and not choice.everything and ledger.pending(manifest.results)
    since = ledger.watermark if waiting else BEGINNING
    seed = manifest.batch if choice.seed is None else choice.seed
    audited = coverage(storage) if choice.seed is None else {}
    return Scope(
        since, manifest.watermark, choice.sample, seed, choice.everything, choice.statements, audited, choice.brief
    )


def _docs(storage: Storage, manifest: Manifest) -> str:
    """Return a folder for the audit of this manifest alone, so that the page of a quarantined batch stays."""
    if not storage.local:
        raise HeddleError(f"{storage.root}: is not on this machine; say with --docs where the page shall go")
    return storage.path(f"{DOCS}/{manifest.sequence:012d}")
