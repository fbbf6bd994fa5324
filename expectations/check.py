"""Audit, then publish: what `heddle check` and a scheduled task call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from expectations.audit import Audit, audit
from expectations.docs import write_docs
from expectations.sample import Scope
from jobs.engine.ledger import Ledger, batches_of, newest_ledger, settle
from jobs.engine.manifest import BEGINNING, Manifest, newest
from jobs.engine.storage import Storage
from jobs.engine.warehouse import stream_storage
from jobs.spark_errors import in_words
from optimizer.catalog.catalog import Catalog
from optimizer.errors import HeddleError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DOCS = "docs"
SAMPLE = 5


@dataclass(frozen=True)
class Choice:
    """How much an audit looks at, and where it writes its page."""

    sample: int = SAMPLE  # windows of each query
    seed: int | None = None  # the number of the newest batch, when left out
    everything: bool = False
    docs: str = ""


@dataclass(frozen=True)
class Outcome:
    """An audit, where its page is, and what became of the batches that waited for it."""

    audit: Audit
    page: str
    published: list[int]
    quarantined: list[int]  # by this audit or by one before it

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {
            "stream": self.audit.stream,
            "passed": self.audit.passed,
            "statements": self.audit.statements,
            "windows": self.audit.windows,
            "rows": self.audit.rows,
            "checks": [check.to_dict() for check in self.audit.checks],
            "page": self.page,
            "published": self.published,
            "quarantined": self.quarantined,
        }


def check(spark: SparkSession, catalog: Catalog, stream: str, warehouse: str, choice: Choice = Choice()) -> Outcome:  # noqa: B008 (frozen)
    """Audit what waits to be published, or all that was emitted; then publish or quarantine what waited."""
    catalog.of_stream(stream)
    storage = stream_storage(warehouse, stream)
    ledger = newest_ledger(storage)
    manifest = newest(storage)
    if manifest.batch < 0:
        raise HeddleError(
            f"stream {stream} has not been evaluated in {warehouse} yet; "
            f"run heddle evaluate CATALOG --stream {stream} --warehouse {warehouse}"
        )
    folder = choice.docs or _docs(storage, manifest)
    try:
        found = audit(spark, catalog, stream, storage, manifest, _scope(ledger, manifest, choice))
    except Exception as error:
        raise in_words(spark, error) from None
    return _settled(storage, ledger, manifest, found, write_docs(found, folder))


def _scope(ledger: Ledger, manifest: Manifest, choice: Choice) -> Scope:
    waiting = ledger.in_use and not choice.everything and ledger.pending(manifest.results)
    since = ledger.watermark if waiting else BEGINNING
    seed = manifest.batch if choice.seed is None else choice.seed
    return Scope(since, manifest.watermark, choice.sample, seed, choice.everything)


def _docs(storage: Storage, manifest: Manifest) -> str:
    """A folder of its own for what is audited, so that the page of a quarantined batch stays."""
    if not storage.local:
        raise HeddleError(f"{storage.root}: is not on this machine; say with --docs where the page shall go")
    return storage.path(f"{DOCS}/{manifest.sequence:012d}")


def _settled(storage: Storage, ledger: Ledger, manifest: Manifest, found: Audit, page: str) -> Outcome:
    waited = [file.name for file in ledger.pending(manifest.results)]
    if ledger.in_use:
        ledger = settle(storage, ledger, manifest, found.passed)
    published = batches_of(manifest, waited) if found.passed else []
    return Outcome(found, page, published, batches_of(manifest, ledger.quarantined))
