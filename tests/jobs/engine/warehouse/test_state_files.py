"""State files: a base and its deltas are read in order, and rewritten when that pays."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.warehouse.state_files import FOLDER, MOST_DELTAS, load_state, pays_to_rewrite, save_state
from jobs.host.storage import Storage
from optimizer.errors import HeddleError


def test_base_and_delta(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path))
    storage.make_folder(FOLDER)
    base = save_state(storage, 0, 3, {"k|t1": pa.table({"start": [0, 5]}), "k|t2": pa.table({"start": [7]})})
    delta = save_state(storage, 1, 3, {"k|t1": pa.table({"start": [10]})})
    assert [(file.bucket, file.rows, file.batch) for file in base + delta] == [(3, 3, 0), (3, 1, 1)]
    tables = load_state(storage, base + delta)
    assert {label: [part["start"].to_pylist() for part in parts] for label, parts in tables.items()} == {
        "k|t1": [[0, 5], [10]],
        "k|t2": [[7]],
    }
    assert save_state(storage, 2, 3, {"k|t1": pa.table({"start": pa.array([], pa.int64())})}) == []
    Path(storage.path(delta[0].name)).write_bytes(b"no Arrow")
    with pytest.raises(HeddleError, match="is damaged or missing; restore this file from a backup"):
        load_state(storage, delta)


def test_when_a_new_base_pays() -> None:
    base, small = DataFile("base", 0, 100, 0), DataFile("delta", 0, 1, 1)
    assert pays_to_rewrite([], 0, 0)
    assert not pays_to_rewrite([base, small], 10, 111)
    assert pays_to_rewrite([base, small], 100, 201), "the deltas outweigh the base"
    assert pays_to_rewrite([base, *[small] * MOST_DELTAS], 0, 108), "there are many deltas"
    assert pays_to_rewrite([base, small], 0, 50), "most of the base has expired"
