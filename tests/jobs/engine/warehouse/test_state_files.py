"""State files: what is of other times is not opened, what is over is dropped, and what is small is merged."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.warehouse.state_files import (
    FOLDER,
    MERGE_AT,
    MOST_DELTAS,
    SMALL,
    KeptTable,
    StateFiles,
    pays_to_rewrite,
    save_added,
    save_state,
    tidy_files,
)
from jobs.host.storage import Storage
from optimizer.errors import HeddleError


def kept(*starts: int, reach: int = 10, shelf: str = "0.4") -> KeptTable:
    return KeptTable(pa.table({"start": pa.array(starts, pa.int64())}), reach, shelf)


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    warehouse = Storage(str(tmp_path))
    warehouse.make_folder(FOLDER)
    return warehouse


def test_a_file_holds_rows_in_the_order_of_time(storage: Storage) -> None:
    files = save_state(storage, 0, 3, {"k|t1": kept(5, 0), "k|t2": kept(7, reach=20)})
    files += save_state(storage, 1, 3, {"k|t1": kept(10)})
    assert [(file.bucket, file.rows, file.batch) for file in files] == [(3, 3, 0), (3, 1, 1)]
    assert [(file.first, file.last, file.expires) for file in files] == [(0, 7, 27), (10, 10, 20)]
    state = StateFiles(storage, files)
    assert [table["start"].to_pylist() for table in state.read("k|t1", "0.4")] == [[0, 5], [10]]
    assert [table["start"].to_pylist() for table in state.read("k|t1", "0.4", [(0, 1), (4, 8)])] == [[0], [5]]
    assert save_state(storage, 2, 3, {"k|t1": kept()}) == []
    Path(storage.path(files[1].name)).write_bytes(b"no Arrow")
    assert state.read("k|t1", "0.4", [(0, 10)]), "no file of another time is opened"
    with pytest.raises(HeddleError, match="is damaged or missing; restore this file from a backup"):
        StateFiles(storage, files).read("k|t1", "0.4", [(0, 11)])


def test_shelves_are_merged_and_dropped_by_name(storage: Storage) -> None:
    files: list[DataFile] = []
    for batch in range(64):
        files += save_state(storage, batch, 0, {"k|t": kept(batch, reach=8)})

        def merge(_: str, tables: list[pa.Table], since: int = batch - 7) -> KeptTable:
            starts = [start for table in tables for start in table["start"].to_pylist() if start >= since]
            return kept(*starts, reach=8)

        files = tidy_files(StateFiles(storage, files), batch, 0, batch, merge)
        parts = StateFiles(storage, files).read("k|t", "0.4", [(batch - 7, batch + 1)])
        assert sorted(start for part in parts for start in part["start"].to_pylist()) == list(
            range(max(0, batch - 7), batch + 1)
        )
        assert len(files) <= 2 * MERGE_AT


def test_what_is_large_goes_to_its_shelf_at_once(storage: Storage) -> None:
    large = kept(*range(SMALL + 1), reach=100, shelf="0.7")
    files = save_added(storage, 0, 0, {"k|t": large, "k|t|60+0": kept(0, shelf="1.4")})
    assert {(file.shelf, file.rows) for file in files} == {("", 1), ("0.7", SMALL + 1)}
    for batch in range(1, MERGE_AT):
        files += save_added(storage, batch, 0, {"k|t": kept(SMALL + batch, reach=100, shelf="0.7")})
    merged: list[int] = []

    def merge(_: str, tables: list[pa.Table]) -> KeptTable:
        merged.append(sum(table.num_rows for table in tables))
        return KeptTable(pa.concat_tables(tables), 100, "0.7")

    tidy_files(StateFiles(storage, files), MERGE_AT, 0, 0, merge)
    assert sorted(merged) == [1, MERGE_AT - 1], "a large file is not written again with the small ones"


def test_when_a_new_base_pays() -> None:
    base, small = DataFile("base", 0, 100, 0), DataFile("delta", 0, 1, 1)
    assert pays_to_rewrite([], 0, 0)
    assert not pays_to_rewrite([base, small], 10, 111)
    assert pays_to_rewrite([base, small], 100, 201), "the deltas outweigh the base"
    assert pays_to_rewrite([base, *[small] * MOST_DELTAS], 0, 108), "there are many deltas"
    assert pays_to_rewrite([base, small], 0, 50), "most of the base has expired"
