"""Which files a batch takes, by Spark's own record: past the point where Spark makes one entry of many."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.engine.sources.contract import current_files
from jobs.engine.warehouse.consumed_files import files_of_batch, list_consumed_files
from jobs.engine.warehouse.lifecycle import CHECKPOINT, stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.runs.on_spark import evaluate
from jobs.runs.request import Options
from optimizer.errors import HeddleError
from tests.worlds.streams import SECOND, odd_row
from tests.worlds.warehouse import STREAM, make_world, query

FILES = 12  # the tenth entry of Spark's log is a compact one


def test_every_batch_takes_its_own_file(spark: SparkSession, tmp_path: Path) -> None:
    batches = [[odd_row(number * SECOND, 1)] for number in range(FILES)]
    world = make_world(tmp_path / "a folder", batches, [query("q", "count(*)", SECOND)], 0)
    warehouse = str(tmp_path / "warehouse")
    report = evaluate(spark, world.catalog, world.plan("shared"), warehouse, Options("file", files_per_batch=1))
    storage = stream_storage(warehouse, STREAM)
    taken = [files_of_batch(storage, batch) for batch in range(FILES)]
    assert report.to_dict()["events"] == FILES
    assert [len(files) for files in taken] == [1] * FILES
    assert sorted(file for files in taken for file in files) == list_consumed_files(storage, newest(storage))
    assert any(name.endswith(".compact") for name in storage.names(f"{CHECKPOINT}/sources/0"))
    [file] = current_files([taken[0][0], taken[0][0] + ".gone"])
    assert file == (taken[0][0], Path(file.path).stat().st_size, Path(file.path).stat().st_mtime_ns, "")
    shutil.rmtree(storage.path(f"{CHECKPOINT}/sources"))
    with pytest.raises(HeddleError, match="does not tell which files were evaluated; restore it from a backup"):
        files_of_batch(storage, 0)
