"""The last audits: the record that each one leaves beside its page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from expectations.report.data_docs import PAGE, RECORD
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.host.settings import Settings
from jobs.host.storage import Storage
from optimizer.catalog.read.draft import ID

DOCS = "docs"
SHOWN = 20


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


def audits(storage: Storage) -> list[AuditRecord]:
    """The newest first; a record that cannot be read is left out."""
    names = sorted((name for name in storage.names(DOCS) if name.endswith(f"/{RECORD}")), reverse=True)
    found = (_record(storage, name) for name in names[:SHOWN])
    return [record for record in found if record is not None]


def audit_page(settings: Settings, stream: str, sequence: int) -> str | None:
    """The page of an audit, if there is one."""
    if not ID.fullmatch(stream) or sequence < 0:
        return None
    storage = stream_storage(settings.warehouse, stream)
    name = f"{DOCS}/{sequence:012d}/{PAGE}"
    return storage.read(name).decode() if storage.exists(name) else None


def _record(storage: Storage, name: str) -> AuditRecord | None:
    try:
        return _parsed(int(name.split("/")[-2]), json.loads(storage.read(name)))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _parsed(sequence: int, found: dict[str, Any]) -> AuditRecord:
    failed = [f"{check['name']} ({check['failing']:,})" for check in found["checks"] if not check["passed"]]
    return AuditRecord(
        sequence,
        datetime.fromisoformat(found["at"]),
        found["passed"],
        found["statements"],
        found["windows"],
        found["rows"],
        failed,
    )
