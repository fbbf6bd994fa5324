"""The late table: every event that some window missed, with the number of windows that did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from jobs.engine.events.arrow import decode_dictionary
from jobs.engine.program.program import set_apart
from jobs.engine.program.spark_types import INSTANT
from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.warehouse.result_files import fresh_name
from jobs.host.storage import Storage

FOLDER = "late"
MISSED, BATCH, WATERMARK = "windows_missed", "batch", "watermark"
CORRECTED, CORRECTED_AFTER = "windows_corrected", "corrected_after"  # of streams that correct emitted windows


def late_column(name: str) -> str:
    """Name the column of the late table that holds a column of the events: those of its own come first.

    >>> late_column("device"), late_column("batch")
    ('device', '`batch`')
    """
    return set_apart(name, (MISSED, BATCH, WATERMARK, CORRECTED, CORRECTED_AFTER))


class Correction(NamedTuple):
    """How many of the windows that missed each late event are corrected: those that end after a time."""

    windows: npt.NDArray[np.int64]
    after: int


def write_late(
    storage: Storage,
    batch: int,
    emitted: int,
    rows: pa.Table,
    missed: npt.NDArray[np.int64],
    correction: Correction | None = None,
) -> DataFile:
    """Write the late events of one task; the windows that missed them end at or before the watermark."""
    columns: dict[str, Any] = {late_column(name): decode_dictionary(rows[name]) for name in rows.column_names}
    watermarks = pa.array(np.full(len(missed), emitted)).view(INSTANT)
    columns |= {MISSED: missed, BATCH: np.full(len(missed), batch), WATERMARK: watermarks}
    if correction:
        after = pa.array(np.full(len(missed), correction.after)).view(INSTANT)
        columns |= {CORRECTED: correction.windows, CORRECTED_AFTER: after}
    table = pa.table(columns)
    name = fresh_name(FOLDER, batch, 0, "parquet")
    pq.write_table(table, storage.path(name), filesystem=storage.filesystem)
    return DataFile(name, 0, table.num_rows, batch)


def read_late_files(storage: Storage, files: Sequence[DataFile]) -> pa.Table:
    """Read every late event; a column that some batches did not read is null in their events."""
    paths = [storage.path(file.name) for file in files]
    tables = [pq.read_table(path, filesystem=storage.filesystem) for path in paths]
    return pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})
