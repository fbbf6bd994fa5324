"""A small disk that is full at any step: one line, or all went well; with space again, the next run carries on."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host.stops import DRIVER_STEPS, TASK_STEPS
from tests.whole.faults.local_runs import BALLAST, FILL, evaluate, run_apart
from tests.worlds.readings import STREAM, Readings, assert_same


@pytest.fixture(scope="module")
def disk(world: Readings) -> Iterator[Path]:
    """A disk of its own below the world's folder."""
    folder = world.folder / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a disk; test_damage limits files instead")
@pytest.mark.parametrize("files_per_batch", [1, 0])
@pytest.mark.parametrize("step", [*DRIVER_STEPS, *TASK_STEPS])
def test_a_disk_that_is_full_at_a_step(world: Readings, disk: Path, step: str, files_per_batch: int) -> None:
    reference = world.warehouse("reference")
    if not files_per_batch:
        reference = world.copy("base", "calm_on_disk")
        evaluate(world, reference, files_per_batch=0)
    warehouse = world.copy("base", f"disk/{step}")
    before = newest(stream_storage(warehouse, STREAM)).batch
    code, said = run_apart(world, warehouse, step, files_per_batch=files_per_batch, store={FILL: str(disk)})
    assert (disk / BALLAST).exists(), "the step was not reached"
    if code:
        assert (code, said.count("\n")) == (2, 0)
        assert "space" in said
    else:
        assert newest(stream_storage(warehouse, STREAM)).batch > before
    (disk / BALLAST).unlink()
    evaluate(world, warehouse, files_per_batch)
    assert_same(world, warehouse, reference)
    shutil.rmtree(warehouse)
