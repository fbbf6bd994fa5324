"""A small disk that is full at any step: one line, or all went well; with space again, the next run carries on."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host import stops
from jobs.host.stops import DRIVER_STEPS, KILL_AT, TASK_STEPS
from jobs.sinks import SINKS
from jobs.sinks.deliver import deliver
from optimizer.errors import HeddleError
from tests.whole.faults import spark_runs
from tests.whole.faults.local_runs import BALLAST, FILL, evaluate, fill_disk, run_apart
from tests.worlds import sinks
from tests.worlds.readings import STREAM, Readings, assert_same, assert_swept, published

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a disk; test_damage limits files instead")
PAGE, STREAM_OF_SINKS = 4096, "events"


@contextmanager
def mounted(folder: Path) -> Iterator[Path]:
    """A disk of its own at a folder."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture(scope="module")
def disk(world: Readings) -> Iterator[Path]:
    """A disk of its own below the world's folder."""
    with mounted(world.folder / "disk") as folder:
        yield folder


@pytest.mark.slow
@as_root
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


@pytest.fixture
def own_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a test's own."""
    with mounted(tmp_path / "disk") as folder:
        yield folder


@pytest.mark.slow
@as_root
@pytest.mark.parametrize("pages", [0, 1, 2, 4, 8, 12, 16, 24])
def test_a_disk_that_fills_while_spark_writes(
    spark: SparkSession, spark_world: Readings, own_disk: Path, pages: int
) -> None:
    """In a task or in the driver, wherever so much space ends; tasks that are tried again find no more of it."""
    warehouse = str(own_disk / "warehouse")
    shutil.copytree(spark_world.warehouse("spark_base"), warehouse)
    fill_disk(own_disk)
    ballast = own_disk / BALLAST
    os.truncate(ballast, ballast.stat().st_size - pages * PAGE)
    before = newest(stream_storage(warehouse, STREAM)).batch
    try:
        spark_runs.evaluate(spark, spark_world, warehouse)
        assert newest(stream_storage(warehouse, STREAM)).batch > before
    except (HeddleError, OSError) as error:
        said = str(error)
    else:
        said = "No space, or enough of it"
    assert said.count("\n") == 0
    assert "space" in said
    ballast.unlink()
    spark_runs.evaluate(spark, spark_world, warehouse)
    # what a full disk leaves to the next run may be cut into other batches, which add in another order
    found, expected = (
        published(spark_world, warehouse),
        published(spark_world, spark_world.warehouse("spark_reference")),
    )
    for name in spark_world.catalog.statements:
        for here, there in zip(found[name].to_pylist(), expected[name].to_pylist(), strict=True):
            assert all(_is_close(here[column], there[column]) for column in there), (here, there)
    assert_swept(warehouse)


def _is_close(ours: Any, theirs: Any) -> bool:
    is_real = isinstance(ours, float) and isinstance(theirs, float)
    return math.isclose(ours, theirs, rel_tol=1e-9) if is_real else bool(ours == theirs)


@pytest.mark.slow
@as_root
def test_a_disk_of_spark_itself_that_is_full(spark_world: Readings, own_disk: Path) -> None:
    """Its shuffle and its class files have no place: nothing is committed, and the next run carries on."""
    warehouse = spark_world.copy("spark_base", "spark_without_space")
    (own_disk / "local").mkdir()
    fill_disk(own_disk)
    command = [sys.executable, "-m", "heddle", "evaluate", str(spark_world.folder / "catalog"), "--stream", STREAM]
    command += ["--warehouse", warehouse, "--master", "local[2]"]
    environment = {**os.environ, "SPARK_LOCAL_DIRS": str(own_disk / "local")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "space" in done.stderr.splitlines()[-1]
    (own_disk / BALLAST).unlink()
    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert newest(stream_storage(warehouse, STREAM)).batch >= 2


@pytest.mark.slow
@as_root
@pytest.mark.parametrize("place", ["sink", "warehouse"])
@pytest.mark.parametrize("format", tuple(SINKS))
def test_a_disk_that_is_full_in_a_delivery(
    tmp_path: Path, format: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full sink is down, a full warehouse is told; with space again each row is there once."""
    (tmp_path / "orders").mkdir()
    monkeypatch.setenv(KILL_AT, str(tmp_path / "orders"))
    with mounted(tmp_path / "disk") as small:
        monkeypatch.setattr(stops.os, "kill", lambda process, number: fill_disk(small))
        name = sinks.PLACES[format].get("path", "") if place == "sink" else "warehouse"
        if not name.endswith(".db"):
            (small / name).mkdir()
        (tmp_path / name).symlink_to(small / name)
        catalog = sinks.make_sinks_world(tmp_path, (format,))
        for number, step in enumerate(("none", "before", "sink written", "sink committed", "delivered")):
            sinks.arrive(tmp_path, 2 * number, 2 * number + 1)
            warehouse = sinks.evaluate(tmp_path, catalog)
            (tmp_path / "orders" / step).touch()
            stops.step("before")
            lines: list[str] = []
            try:
                deliver(catalog, STREAM_OF_SINKS, warehouse, lines.append)
            except (HeddleError, OSError) as error:
                lines.append(str(error))
            assert (step == "none") != (small / BALLAST).exists(), "nobody reached the step"
            assert all(line.count("\n") == 0 for line in lines)
            if step == "before":
                assert [line for line in lines if "sink" in line or "space" in line]
            (small / BALLAST).unlink(missing_ok=True)
            deliver(catalog, STREAM_OF_SINKS, warehouse, pytest.fail)
            sinks.assert_delivered(tmp_path, catalog, format)
