"""Late events: how many there were, and the last of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jobs.engine.warehouse.late_files import BATCH, MISSED, WATERMARK, read_late_files
from jobs.engine.warehouse.manifest import Manifest
from jobs.host.storage import Storage

SHOWN = 10
LARGEST = 200_000  # rows of a file that the page still reads


@dataclass(frozen=True)
class Late:
    """All that are known, and the newest few as a table."""

    events: int = 0
    columns: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)


def late(storage: Storage, manifest: Manifest) -> Late:
    """What the newest manifest names; the rows are those of the newest file."""
    events = sum(file.rows for file in manifest.late)
    small = [file for file in manifest.late if file.rows <= LARGEST]
    if not small:
        return Late(events)
    newest = max(small, key=lambda file: file.batch)
    try:
        table = read_late_files(storage, [newest])
    except OSError:  # a run has merged it meanwhile
        return Late(events)
    table = table.sort_by([(MISSED, "descending")]).slice(0, SHOWN)
    first = [name for name in (BATCH, MISSED, WATERMARK) if name in table.column_names]
    columns = [*first, *(name for name in table.column_names if name not in first)]
    rows = [[row[name] for name in columns] for row in table.to_pylist()]
    return Late(events, columns, rows)
