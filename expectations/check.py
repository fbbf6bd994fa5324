"""Audit, then publish: what `heddle check` and a scheduled task call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from expectations.audit_stream import audit
from expectations.publish import publish_or_quarantine
from expectations.report.audit import Audit
from expectations.report.data_docs import write_docs
from expectations.sample.windows import STATEMENTS, Scope
from jobs.engine.warehouse.ledger import Ledger, newest_ledger
from jobs.engine.warehouse.lifecycle import evaluated_manifest, stream_storage
from jobs.engine.warehouse.manifest import Manifest
from jobs.host.storage import Storage
from jobs.spark.errors import as_user_error
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
