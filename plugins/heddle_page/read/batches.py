"""What the manifests and the ledger say: how far the stream is, its last batches, and what is not published."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from jobs.engine.warehouse.ledger import Ledger
from jobs.engine.warehouse.manifest import Manifest
from optimizer.windows.window import BEGINNING

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Progress:
    """How far a stream has been evaluated."""

    batch: int
    watermark: datetime | None
    latest: datetime | None
    plan: str
    published: int  # rows
    audited: bool  # whether results wait for an audit before they are published


@dataclass(frozen=True)
class Batch:
    """One of the last batches, in numbers."""

    batch: int
    events: int
    results: int
    late: int
    windows_missed: int
    plan: str


@dataclass(frozen=True)
class Held:
    """A batch whose results are not published."""

    batch: int
    state: str  # waiting, quarantined, discarded
    files: int
    rows: int


def progress(manifest: Manifest, ledger: Ledger) -> Progress | None:
    """None when nothing was evaluated yet."""
    if manifest.sequence < 0:
        return None
    rows = sum(file.rows for file in ledger.public(manifest.results))
    return Progress(
        manifest.batch, instant(manifest.watermark), instant(manifest.latest), manifest.plan, rows, ledger.in_use
    )


def batches(manifests: Iterable[Manifest]) -> list[Batch]:
    """The last batches, the newest first; what closing a run emitted counts with the batch before it."""
    found: dict[int, Batch] = {}
    for manifest in manifests:
        counts, before = manifest.counts, found.get(manifest.batch)
        found[manifest.batch] = Batch(
            manifest.batch,
            counts.get("events", 0) + (before.events if before else 0),
            counts.get("results", 0) + (before.results if before else 0),
            counts.get("late", 0) + (before.late if before else 0),
            counts.get("windows_missed", 0) + (before.windows_missed if before else 0),
            manifest.plan,
        )
    return sorted(found.values(), key=lambda batch: -batch.batch)


def held(manifest: Manifest, ledger: Ledger) -> list[Held]:
    """Every batch that waits, is quarantined or was discarded; the newest first."""
    names = {
        "waiting": {file.name for file in ledger.pending(manifest.results)},
        "quarantined": set(ledger.quarantined),
        "discarded": set(ledger.discarded),
    }
    found = [_held(manifest, state, wanted) for state, wanted in names.items()]
    return sorted((each for some in found for each in some), key=lambda each: -each.batch)


def instant(microseconds: int) -> datetime | None:
    """A moment of the stream's clock."""
    return None if microseconds == BEGINNING else EPOCH + timedelta(microseconds=microseconds)


def _held(manifest: Manifest, state: str, wanted: set[str]) -> Sequence[Held]:
    rows: dict[int, list[int]] = {}
    for file in manifest.results:
        if file.name in wanted:
            rows.setdefault(file.batch, []).append(file.rows)
    return [Held(batch, state, len(each), sum(each)) for batch, each in rows.items()]
