"""The files that committed batches have taken, by either record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobs.engine.warehouse.consumed_files import list_consumed_files
from jobs.engine.warehouse.manifest import Manifest
from jobs.host.storage import Storage
from optimizer.errors import HeddleError


def spark_log(folder: Path, name: str, batches: range) -> None:
    entries = [{"path": f"file:///data/a%20{batch}.parquet", "timestamp": 0, "batchId": batch} for batch in batches]
    source = folder / "checkpoint" / "sources" / "0" / name
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text("\n".join(["v1", *map(json.dumps, entries)]))


def offsets(folder: Path, batch: int, offset: int) -> None:
    path = folder / "checkpoint" / "offsets" / str(batch)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'v1\n{{"batchWatermarkMs":0}}\n{{"logOffset":{offset}}}')


def test_sparks_log_with_a_compact_file(tmp_path: Path) -> None:
    spark_log(tmp_path, "1", range(1, 2))  # compacted already, and left behind
    spark_log(tmp_path, "2.compact", range(3))
    spark_log(tmp_path, "3", range(3, 4))
    spark_log(tmp_path, "4", range(4, 5))  # taken by a run that died before its manifest
    offsets(tmp_path, 5, 3)
    found = list_consumed_files(Storage(str(tmp_path)), Manifest(batch=5))
    assert found == [f"/data/a {batch}.parquet" for batch in range(4)]


def test_records_of_a_run_without_spark(tmp_path: Path) -> None:
    for batch, files in enumerate([["a"], ["b", "c"], ["d"]]):
        path = tmp_path / "taken" / f"{batch:012d}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"batch": batch, "files": files, "earlier": None}))
    assert list_consumed_files(Storage(str(tmp_path)), Manifest(batch=1)) == ["a", "b", "c"]


def test_a_checkpoint_that_is_gone_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(HeddleError, match="does not tell which files were evaluated"):
        list_consumed_files(Storage(str(tmp_path)), Manifest(batch=0))
