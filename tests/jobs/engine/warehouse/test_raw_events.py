"""Raw events: the files of each batch that may hold events since a time, and from when on none is gone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from jobs.engine.sources import list_input_files
from jobs.engine.sources.contract import File, current_files
from jobs.engine.warehouse.consumed_files import (
    COMPACT_AT,
    PastBatch,
    RawEvents,
    Record,
    add_record,
    batch_by_file,
    load_records,
    raw_events,
)
from jobs.engine.warehouse.manifest import Manifest, Mark
from jobs.host.storage import Storage
from optimizer.catalog.model.query import Stream
from optimizer.windows.window import BEGINNING

MANIFEST = Manifest(sequence=2, batch=2, latest=90, marks=(Mark(0, 30, 20), Mark(1, 60, 50), Mark(2, 90, 80)))


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    """Three batches with a file each, of 1, 2 and 3 bytes."""
    storage, records = Storage(str(tmp_path / "warehouse")), list[Record]()
    (tmp_path / "data").mkdir()
    for batch in range(3):
        path = tmp_path / "data" / f"{batch}.parquet"
        path.write_bytes(b"x" * (batch + 1))
        records = add_record(storage, records, batch, current_files([str(path)]))
    return storage


def test_only_batches_that_may_hold_such_events(tmp_path: Path, storage: Storage) -> None:
    paths = [str(tmp_path / "data" / f"{batch}.parquet") for batch in range(3)]
    assert raw_events(storage, MANIFEST, 31) == RawEvents(
        [PastBatch(1, 20, current_files(paths[1:2])), PastBatch(2, 50, current_files(paths[2:]))], BEGINNING
    )
    assert raw_events(storage, MANIFEST, BEGINNING).files == current_files(paths)


def test_files_that_are_gone(tmp_path: Path, storage: Storage) -> None:
    (tmp_path / "data" / "1.parquet").unlink()
    raw = raw_events(storage, MANIFEST, BEGINNING)
    assert [past.batch for past in raw.batches] == [0, 2]
    assert raw.since == 61, "the latest event of the batch was at 60"
    assert [Path(file.path).name for file in list_input_files(Stream("s", "ts", 0, path=str(tmp_path / "data")))] == [
        "0.parquet",
        "2.parquet",
    ]


def test_a_file_that_was_written_again_is_gone(tmp_path: Path, storage: Storage) -> None:
    path = tmp_path / "data" / "1.parquet"
    path.write_bytes(b"yy")
    os.utime(path, (1, 1))
    raw = raw_events(storage, MANIFEST, BEGINNING)
    assert ([past.batch for past in raw.batches], raw.since) == ([0, 2], 61)


def test_records_become_compact(tmp_path: Path) -> None:
    storage, records = Storage(str(tmp_path)), list[Record]()
    for batch in range(COMPACT_AT + 2):
        records = add_record(storage, records, batch, [File(f"f{batch}", 1)])
    assert [record.batch for record in records] == [COMPACT_AT, COMPACT_AT + 1]
    assert load_records(storage) == records
    batches = batch_by_file(storage, Manifest(batch=COMPACT_AT + 1))
    assert len(batches) == COMPACT_AT + 2
    assert batches == {f"f{batch}": batch for batch in range(COMPACT_AT + 2)}


def test_a_compact_record_of_a_batch_under_way_tells_of_those_before_it(tmp_path: Path) -> None:
    """It is written before its batch is committed, and nothing else tells of them any more: not when a plan takes over
    in this very batch, nor when it died."""
    storage, records = Storage(str(tmp_path)), list[Record]()
    for batch in range(COMPACT_AT + 1):
        records = add_record(storage, records, batch, [File(f"f{batch}", 1)])
    assert [record.batch for record in load_records(storage)] == [COMPACT_AT]
    for committed in (COMPACT_AT, COMPACT_AT - 1, COMPACT_AT - 2, 0, -1):
        consumed = batch_by_file(storage, Manifest(batch=committed))
        assert consumed == {f"f{batch}": batch for batch in range(committed + 1)}


def test_a_compact_record_stays_as_it_is(tmp_path: Path) -> None:
    """Also where files of its batch have vanished since: a run that died between two records would lose them all."""
    storage, records = Storage(str(tmp_path)), list[Record]()
    for batch in range(COMPACT_AT + 1):
        records = add_record(storage, records, batch, [File(f"f{batch}", 1), File(f"g{batch}", 1)])
    assert add_record(storage, records, COMPACT_AT, [File(f"f{COMPACT_AT}", 1)]) == records
    assert load_records(storage) == records


def test_a_compact_record_of_an_older_version(tmp_path: Path) -> None:
    """It does not tell which batch took which file; all of them were before its own."""
    storage = Storage(str(tmp_path))
    entry = {"batch": 5, "files": [["f5", 1, 0, ""]], "earlier": [["f0", 1, 0, ""], ["f4", 1, 0, ""]], "offset": ""}
    storage.create("taken/000000000005.json", json.dumps(entry).encode())
    assert batch_by_file(storage, Manifest(batch=5)) == {"f0": 4, "f4": 4, "f5": 5}
    assert batch_by_file(storage, Manifest(batch=4)) == {"f0": 4, "f4": 4}


def test_records_that_become_compact_while_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a run, while an audit looks for raw events."""
    storage, records = Storage(str(tmp_path)), list[Record]()
    for batch in range(COMPACT_AT):
        records = add_record(storage, records, batch, [File(f"f{batch}", 1)])
    read, waiting = Storage.read, [COMPACT_AT]

    def read_late(self: Storage, name: str) -> bytes:
        if waiting:
            add_record(storage, records, waiting.pop(), [File("new", 1)])
        return read(self, name)

    monkeypatch.setattr(Storage, "read", read_late)
    assert len(batch_by_file(storage, Manifest(batch=COMPACT_AT))) == COMPACT_AT + 1
