"""A run that never ends: every file is a batch, windows close while the stream is idle, SIGTERM ends it cleanly."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from optimizer.catalog.write import add_query
from tests.whole.faults import local_runs
from tests.worlds.readings import (
    EVENTS,
    LENGTHS,
    STREAM,
    Readings,
    assert_swept,
    make_world,
    open_world,
    published,
)

pytestmark = pytest.mark.spark
PATIENCE = 240  # seconds


@contextmanager
def running(world: Readings, warehouse: str) -> Iterator[subprocess.Popen[str]]:
    """`heddle evaluate --interval`, ended in any case."""
    (world.folder / "plan.json").write_text(world.plan.to_json())
    command = [sys.executable, "-m", "heddle", "evaluate", str(world.folder / "catalog"), "--stream", STREAM]
    command += ["--warehouse", warehouse, "--plan", str(world.folder / "plan.json"), "--master", "local[2,4]"]
    command += ["--interval", "200 milliseconds", "--files-per-batch", "1", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()


def wait_until_closed(process: subprocess.Popen[str], warehouse: str, batch: int) -> None:
    """Until the batch is in and everything its events let end is out."""
    storage = stream_storage(warehouse, STREAM)
    for _ in range(10 * PATIENCE):
        found = newest(storage)
        if found.batch == batch and found.watermark == found.latest - 2_000_000:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    raise AssertionError("the batch never ended")


def test_files_come_one_by_one_and_a_query_joins(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    warehouse, reference = world.warehouse("continuous"), world.warehouse("reference")
    with running(world, warehouse) as process:
        for number in range(3):
            world.arrive(number)
            wait_until_closed(process, warehouse, number)
            local_runs.evaluate(world, reference)
        assert_same_rows(world, warehouse, reference)
        add_query(
            tmp_path / "catalog", {"id": "low", "stream": STREAM, "select": "min(x)", "group_by": ["k"], **LENGTHS}
        )
        changed = open_world(tmp_path)
        changed.arrive(3)
        wait_until_closed(process, warehouse, 3)
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, stderr
    report = json.loads(stdout)
    assert (report["batches"], report["events"]) == (4, 4 * EVENTS)
    assert any("low joined, none left" in note for note in report["notes"])
    local_runs.evaluate(changed, reference)  # the same by a restart
    assert_same_rows(changed, warehouse, reference)
    assert_swept(warehouse)


def assert_same_rows(world: Readings, warehouse: str, reference: str) -> None:
    """The same rows; sums may differ in their last digits where plans cut events otherwise."""
    rows, expected = published(world, warehouse), published(world, reference)
    for name, table in expected.items():
        assert table.num_rows, name
        pd.testing.assert_frame_equal(rows[name].to_pandas(), table.to_pandas(), rtol=1e-9)
