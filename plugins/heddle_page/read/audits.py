"""The last audits: the record that each one leaves beside its page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from expectations.data_docs import DOCS, PAGE, RECORD, REMEMBERED
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.host.settings import Settings
from jobs.host.storage import Storage
from optimizer.catalog.read.draft import ID

SHOWN = 20  # audits that are listed


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
