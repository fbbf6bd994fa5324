"""Late files: what a task writes is read back with the batch and its watermark."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa

from jobs.engine.warehouse.result_files import LATE_FOLDER, read_late_files, write_late
from jobs.host.storage import Storage


def test_late_events_of_two_batches(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path))
    storage.make_folder(LATE_FOLDER)
    first = pa.table({"k": pa.array(["a", "b"]).dictionary_encode(), "n": [1, 2]})
    files = [
        write_late(storage, 4, 7_000_000, first, np.array([2, 1])),
        write_late(storage, 5, 9_000_000, pa.table({"k": ["c"]}), np.array([3])),
    ]
    assert [(file.batch, file.rows) for file in files] == [(4, 2), (5, 1)]
    table = read_late_files(storage, files)
    seven, nine = (datetime(1970, 1, 1, 0, 0, second, tzinfo=UTC) for second in (7, 9))
    assert table.to_pylist() == [
        {"k": "a", "n": 1, "windows_missed": 2, "batch": 4, "watermark": seven},
        {"k": "b", "n": 2, "windows_missed": 1, "batch": 4, "watermark": seven},
        {"k": "c", "n": None, "windows_missed": 3, "batch": 5, "watermark": nine},
    ]
    assert read_late_files(storage, []).num_rows == 0
