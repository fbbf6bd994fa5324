"""State: the retained slices of a bucket, as a base and the deltas that later batches added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from jobs.engine.warehouse import arrow_files as tables
from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.warehouse.result_files import fresh_name
from jobs.host.storage import Storage

FOLDER = "state"
MOST_DELTAS = 8


def load_state(storage: Storage, files: Sequence[DataFile]) -> dict[str, list[pa.Table]]:
    """The slices of a bucket by label, as they were written."""
    found: dict[str, list[pa.Table]] = {}
    for file in files:
        for label, table in tables.load(storage, file.name).items():
            found.setdefault(label, []).append(table)
    return found


def rewrite(files: Sequence[DataFile], added: int, retained: int) -> bool:
    """Whether a new base pays: the deltas outweigh the old one, or are many, or most of what is kept has expired."""
    if not files:
        return True
    deltas = sum(file.rows for file in files[1:]) + added
    return deltas > files[0].rows or len(files) > MOST_DELTAS or 2 * retained < files[0].rows + deltas


def save_state(storage: Storage, batch: int, bucket: int, slices: Mapping[str, pa.Table]) -> list[DataFile]:
    """Write one file of slices, unless there are none."""
    rows = sum(table.num_rows for table in slices.values())
    if not rows:
        return []
    name = fresh_name(FOLDER, batch, bucket, "arrow")
    tables.save(storage, name, slices)
    return [DataFile(name, bucket, rows, batch)]
