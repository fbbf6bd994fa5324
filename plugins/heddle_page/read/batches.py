"""What the warehouse says: how far a stream is, its batches, what is not published, what was late, and its last
audits.

Every audit leaves a record beside its page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from expectations.data_docs import DOCS, PAGE, RECORD, REMEMBERED
from jobs.engine.warehouse.ledger import Ledger
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import Manifest, emitted_span, load_past, manifest_names
from jobs.engine.warehouse.result_files import BATCH, MISSED, WATERMARK, read_late_files
from jobs.host.settings import BACKFILLS, Settings
from jobs.host.storage import Storage
from optimizer.catalog.read.draft import ID
from optimizer.windows.window import BEGINNING

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SHOWN = 10
LARGEST = 200_000  # rows of a file that the page still reads
SHOWN_AUDITS = 20  # audits that are listed


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
class Backfill:
    """A past interval that the DAG heddle_backfill has computed, in a warehouse of its own."""

    name: str
    warehouse: str
    until: datetime | None  # windows end up to then
    rows: int


@dataclass(frozen=True)
class UnpublishedBatch:
    """A batch whose results are not published."""

    batch: int
    state: str  # waiting, quarantined, discarded
    files: int
    rows: int


@dataclass(frozen=True)
class LateEvents:
    """How many events were late, and the newest few of them as a table."""

    events: int = 0
    columns: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)


def progress(manifest: Manifest, ledger: Ledger) -> Progress | None:
    """Return how far a stream is; None when nothing was evaluated yet."""
    if manifest.sequence < 0:
        return None
    rows = sum(file.rows for file in ledger.public(manifest.results))
    return Progress(
        manifest.batch, instant(manifest.watermark), instant(manifest.latest), manifest.plan, rows, ledger.in_use
    )


def published_until(manifest: Manifest, ledger: Ledger) -> int:
    """Return the time up to which every window is published: the watermark before the first batch that is not."""
    away = {*(file.name for file in ledger.pending(manifest.results)), *ledger.quarantined}
    batches = [file.batch for file in manifest.results if file.name in away]
    if not batches:
        return manifest.watermark
    span = emitted_span(manifest.marks, min(batches))
    return span[0] if span else BEGINNING


def last_batches(manifests: Iterable[Manifest]) -> list[Batch]:
    """Return the last batches, the newest first, each with the plan that evaluated it; closings count with theirs."""
    by_number: dict[int, Batch] = {}
    for manifest in manifests:
        counts, before = manifest.counts, by_number.get(manifest.batch)
        by_number[manifest.batch] = Batch(
            manifest.batch,
            counts.get("events", 0) + (before.events if before else 0),
            counts.get("results", 0) + (before.results if before else 0),
            counts.get("late", 0) + (before.late if before else 0),
            counts.get("windows_missed", 0) + (before.windows_missed if before else 0),
            # a plan that takes over, or closes a run, commits the batch's number again without having evaluated it
            manifest.plan if before is None else before.plan,
        )
    return sorted(by_number.values(), key=lambda batch: -batch.batch)


def unpublished_batches(manifest: Manifest, ledger: Ledger) -> list[UnpublishedBatch]:
    """Return every batch that waits, is quarantined or was discarded; the newest first."""
    names = {
        "waiting": {file.name for file in ledger.pending(manifest.results)},
        "quarantined": set(ledger.quarantined),
        "discarded": set(ledger.discarded),
    }
    batches = [batch for state, files in names.items() for batch in _batches_of(manifest, state, files)]
    return sorted(batches, key=lambda batch: -batch.batch)


def instant(microseconds: int) -> datetime | None:
    """Return a moment of the stream's clock; None before its beginning."""
    return None if microseconds == BEGINNING else EPOCH + timedelta(microseconds=microseconds)


def _batches_of(manifest: Manifest, state: str, files: set[str]) -> Sequence[UnpublishedBatch]:
    rows: dict[int, list[int]] = {}
    for file in manifest.results:
        if file.name in files:
            rows.setdefault(file.batch, []).append(file.rows)
    return [UnpublishedBatch(batch, state, len(counts), sum(counts)) for batch, counts in rows.items()]


def list_backfills(settings: Settings, stream: str) -> list[Backfill]:
    """Return the last past intervals of a stream that were computed anew, the newest first."""
    folder = Path(settings.home, BACKFILLS)
    warehouses = sorted((path for path in folder.glob("*") if (path / stream).is_dir()), key=_changed, reverse=True)
    backfills = []
    for path in warehouses[:SHOWN]:
        storage = stream_storage(str(path), stream)
        for manifest in load_past(storage, manifest_names(storage)[-1:]):
            rows = sum(file.rows for file in manifest.results)
            backfills.append(Backfill(path.name, str(path), instant(manifest.watermark), rows))
    return backfills


def _changed(path: Path) -> float:
    return path.stat().st_mtime


def read_late_events(storage: Storage, manifest: Manifest) -> LateEvents:
    """Count the late events of a manifest; the rows shown are those of its newest file."""
    events = sum(file.rows for file in manifest.late)
    small = [file for file in manifest.late if file.rows <= LARGEST]
    if not small:
        return LateEvents(events)
    newest = max(small, key=lambda file: file.batch)
    try:
        table = read_late_files(storage, [newest])
    except OSError:  # a run has merged it meanwhile
        return LateEvents(events)
    table = table.sort_by([(MISSED, "descending")]).slice(0, SHOWN)
    first = [name for name in (BATCH, MISSED, WATERMARK) if name in table.column_names]
    columns = [*first, *(name for name in table.column_names if name not in first)]
    rows = [[row[name] for name in columns] for row in table.to_pylist()]
    return LateEvents(events, columns, rows)


@dataclass(frozen=True)
class AuditRecord:
    """What an audit found."""

    sequence: int
    at: datetime
    passed: bool
    statements: int
    windows: int
    rows: int
    failed: list[str]  # the checks, with how many rows failed each
    batch: int = -1
    audited: tuple[str, ...] = ()  # the statements it looked at
    evaluated: int = 0  # the statements there were


def last_audits(storage: Storage) -> list[AuditRecord]:
    """Return the last audits, the newest first; a record that cannot be read is left out."""
    names = sorted((name for name in storage.names(DOCS) if name.endswith(f"/{RECORD}")), reverse=True)
    records = (_read_record(storage, name) for name in names[:REMEMBERED])
    return [record for record in records if record is not None]


def audit_page(settings: Settings, stream: str, sequence: int) -> str | None:
    """Return the page of an audit; None when there is none."""
    if not ID.fullmatch(stream) or sequence < 0:
        return None
    storage = stream_storage(settings.warehouse, stream)
    name = f"{DOCS}/{sequence:012d}/{PAGE}"
    return storage.read(name).decode() if storage.exists(name) else None


def _read_record(storage: Storage, name: str) -> AuditRecord | None:
    try:
        return _parse_record(int(name.split("/")[-2]), json.loads(storage.read(name)))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _parse_record(sequence: int, record: dict[str, Any]) -> AuditRecord:
    failed = [f"{check['name']} ({check['failing']:,})" for check in record["checks"] if not check["passed"]]
    return AuditRecord(
        sequence,
        datetime.fromisoformat(record["at"]),
        record["passed"],
        record["statements"],
        record["windows"],
        record["rows"],
        failed,
        record.get("batch", -1),
        tuple(record.get("audited", ())),
        record.get("evaluated", 0),
    )


def last_audit_of(audits: Iterable[AuditRecord]) -> dict[str, AuditRecord]:
    """Return the newest of some audits that looked at each statement; they come the newest first."""
    last: dict[str, AuditRecord] = {}
    for audit in audits:
        for statement in audit.audited:
            last.setdefault(statement, audit)
    return last
