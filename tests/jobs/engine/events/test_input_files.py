"""Which files a batch takes: by our own listing where a run ends, by Spark's record where it goes on."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.engine.sources.contract import current_files
from jobs.engine.warehouse.consumed_files import add_record, files_of_batch, list_consumed_files, load_records
from jobs.engine.warehouse.lifecycle import CHECKPOINT, stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.runs.due_batches import DUE, mark_batches
from jobs.runs.on_spark import evaluate
from jobs.runs.report import RunReport
from jobs.runs.request import Options
from optimizer.errors import HeddleError
from tests.worlds.streams import SECOND, odd_row
from tests.worlds.warehouse import STREAM, World, add_batch, make_world, query

FILES = 12  # the tenth entry of Spark's log is a compact one


def make_files(folder: Path, count: int) -> World:
    """A world with a file of one event for every second."""
    batches = [[odd_row(number * SECOND, 1)] for number in range(count)]
    return make_world(folder, batches, [query("q", "count(*)", SECOND)], 0)


def go_on_until(spark: SparkSession, world: World, warehouse: str, batch: int) -> RunReport:
    """A run that goes on, a file a batch, and is asked to end after a batch."""
    storage = stream_storage(warehouse, STREAM)

    def ask() -> None:
        while newest(storage).batch < batch:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)

    asker = threading.Thread(target=ask, daemon=True)
    asker.start()
    options = Options("file", files_per_batch=1, interval="100 milliseconds")
    report = evaluate(spark, world.catalog, world.plan("shared"), warehouse, options)
    asker.join()
    return report


def test_every_batch_takes_its_own_file(spark: SparkSession, tmp_path: Path) -> None:
    """Past the point where Spark makes one entry of many."""
    world, warehouse = make_files(tmp_path / "a folder", FILES), str(tmp_path / "warehouse")
    report = go_on_until(spark, world, warehouse, FILES - 1)
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


def test_runs_that_end_and_runs_that_go_on_follow_each_other(spark: SparkSession, tmp_path: Path) -> None:
    world, warehouse = make_files(tmp_path / "world", 3), str(tmp_path / "warehouse")
    storage, plan = stream_storage(warehouse, STREAM), world.plan("shared")

    def end(files_per_batch: int) -> int:
        options = Options("file", files_per_batch=files_per_batch)
        return int(evaluate(spark, world.catalog, plan, warehouse, options).to_dict()["events"])

    assert (end(2), newest(storage).batch) == (3, 1)
    add_batch(world.folder, 3, [odd_row(3 * SECOND, 1)])
    assert go_on_until(spark, world, warehouse, 5).to_dict()["events"] == 1  # it lists the others once more
    add_batch(world.folder, 4, [odd_row(4 * SECOND, 1)])
    assert (end(1), newest(storage).batch) == (1, 6)
    assert (end(1), newest(storage).batch) == (0, 6)
    assert list_consumed_files(storage, newest(storage)) == [str(path) for path in world.files]
    assert not list(storage.names(DUE))


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_batch_that_died_needs_no_mark(tmp_path: Path, is_recorded: bool) -> None:
    """Spark begins it again by itself: with the files that our record names, or with the first ones that wait."""
    world = make_files(tmp_path / "world", 4)
    storage = stream_storage(str(tmp_path / "warehouse"), STREAM)
    storage.create(f"{CHECKPOINT}/offsets/0", b"")
    storage.create(f"{DUE}/of a run that died/000", b"")
    arrived = current_files(map(str, world.files))
    if is_recorded:
        add_record(storage, load_records(storage), 0, arrived[:1])
    with mark_batches(storage, newest(storage), arrived, 1) as due:
        assert len(list(storage.names(DUE))) == len(list(storage.names(due.folder))) == 3
        taken = [due.take_next() for _ in range(3 + (not is_recorded))]
    assert [file for files in taken for file in files] == arrived[is_recorded:]
    assert not list(storage.names(DUE))
