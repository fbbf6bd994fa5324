"""Damaged and missing files, a full disk, two runs at once: one line, nothing half published, the next run goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from jobs.engine.batch.run_batch import run_batch
from jobs.engine.events.file_types import file_types
from jobs.engine.events.parquet import Split
from jobs.engine.program.compile import compile_program
from jobs.engine.warehouse.lifecycle import CHECKPOINT, TAKEN, only_run, stream_storage
from jobs.engine.warehouse.manifest import Manifest, commit, manifest_names, newest
from jobs.runs.in_process import evaluate_local, in_process
from jobs.runs.request import Options
from optimizer.errors import HeddleError
from tests.whole.faults.local_runs import evaluate, run_apart
from tests.worlds.readings import STREAM, Readings, assert_same


@contextmanager
def refused(world: Readings, warehouse: str, line: str) -> Iterator[None]:
    """The run inside ends in this line, and leaves what is published as it was."""
    storage = stream_storage(warehouse, STREAM)
    before = manifest_names(storage)
    with pytest.raises(HeddleError, match=line) as caught:
        yield
    assert "\n" not in str(caught.value)
    assert manifest_names(storage) == before


@contextmanager
def harmed(path: Path, harm: Callable[[Path], None]) -> Iterator[None]:
    """Do harm to a file, and mend it afterwards; its age, which says when it arrived, stays."""
    kept, age = path.read_bytes(), path.stat().st_mtime_ns
    harm(path)
    os.utime(path, ns=(age, age))
    try:
        yield
    finally:
        path.write_bytes(kept)
        os.utime(path, ns=(age, age))


def cut(path: Path) -> None:
    """Only the first half is left."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def garble(path: Path) -> None:
    """The same length, another content."""
    path.write_bytes(b"\xff" * path.stat().st_size)


@pytest.mark.parametrize("harm", [cut, garble])
def test_an_input_file_that_cannot_be_read(world: Readings, harm: Callable[[Path], None]) -> None:
    warehouse = world.copy("base", "input")
    with harmed(world.path(3), harm), refused(world, warehouse, r"part-00003.parquet: cannot be read .* run again$"):
        evaluate(world, warehouse)
    evaluate(world, warehouse)
    assert_same(world, warehouse, world.warehouse("reference"))


def test_a_file_that_vanishes_before_it_is_read(world: Readings) -> None:
    storage = stream_storage(world.warehouse("vanished"), STREAM)
    program = compile_program(world.catalog, world.plan, file_types(world.catalog, world.plan, str(world.path(0))))
    with refused(world, world.warehouse("vanished"), "gone.parquet: cannot be read"):
        run_batch(storage, replace(Manifest(), buckets=1), program, 0, in_process([Split("gone.parquet", 9)]))


def test_a_file_that_vanishes_for_good(world: Readings) -> None:
    """Its batch had begun: the next run goes on without it, and the files after it keep their batches."""
    warehouse = world.copy("base", "without")
    assert run_apart(world, warehouse, kill_at="listed")[0] < 0
    away = world.folder / "away"
    shutil.move(world.path(3), away)
    evaluate(world, warehouse)
    counted = newest(stream_storage(warehouse, STREAM))
    shutil.move(away, world.path(3))
    assert counted.batch == newest(stream_storage(world.warehouse("reference"), STREAM)).batch


@pytest.mark.parametrize("harm", [cut, garble])
@pytest.mark.parametrize("part", ["manifests", "state", TAKEN])
def test_a_damaged_file_of_the_warehouse(world: Readings, part: str, harm: Callable[[Path], None]) -> None:
    warehouse = world.copy("base", "damaged")
    storage = stream_storage(warehouse, STREAM)
    named = {"manifests": manifest_names(storage)[-1], "state": newest(storage).state[0].name}
    path = Path(storage.path(named.get(part) or max(storage.names(TAKEN))))
    with harmed(path, harm), refused(world, warehouse, r"damaged.*restore (it|this file) from a backup"):
        evaluate(world, warehouse)
    evaluate(world, warehouse)
    assert_same(world, warehouse, world.warehouse("reference"))


@pytest.mark.parametrize("largest_file", [100, 3000])
def test_a_full_disk(world: Readings, largest_file: int) -> None:
    warehouse = world.copy("base", "full")
    before = newest(stream_storage(warehouse, STREAM))
    code, said = run_apart(world, warehouse, largest_file=largest_file)
    assert code == 2
    assert "free some space" in said
    assert "\n" not in said
    assert newest(stream_storage(warehouse, STREAM)) == before
    evaluate(world, warehouse)
    assert_same(world, warehouse, world.warehouse("reference"))


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nobody write below a folder: root, whom no mode keeps from it, by a mount."""
    if os.geteuid():
        for path in (folder, *folder.rglob("*")):
            path.chmod(path.stat().st_mode & ~0o222)
    elif _mount("--bind", str(folder), str(folder)):
        pytest.skip("root may write anywhere, and cannot mount here: a read-only folder is not tried")
    else:
        _mount("-o", "remount,bind,ro", str(folder))
    try:
        yield
    finally:
        if os.geteuid():
            for path in (folder, *folder.rglob("*")):
                path.chmod(path.stat().st_mode | 0o200)
        else:
            subprocess.run(["umount", str(folder)], check=True)


def _mount(*options: str) -> int:
    return subprocess.run(["mount", *options], check=False, capture_output=True).returncode


def test_a_warehouse_that_is_read_only(world: Readings) -> None:
    warehouse = world.copy("base", "sealed")
    with read_only(Path(warehouse)), refused(world, warehouse, r"cannot be written \(.*\); choose another --warehouse"):
        evaluate(world, warehouse)
    with read_only(Path(warehouse).parent), refused(world, f"{warehouse}/new", r"cannot be written \(.*\); choose"):
        evaluate(world, f"{warehouse}/new")
    evaluate(world, warehouse)
    assert_same(world, warehouse, world.warehouse("reference"))


def test_a_warehouse_that_becomes_read_only(world: Readings) -> None:
    """After the first batch of a run: that batch is there, no other, and nothing of it twice."""
    warehouse = world.copy("base", "sealing")
    batches = []

    def seal(manifest: Manifest, seconds: float) -> None:
        batches.append(manifest.batch)
        stack.enter_context(read_only(Path(warehouse)))

    with ExitStack() as stack, pytest.raises(HeddleError, match=r"free some space or mend the (disk|folder)") as caught:
        evaluate_local(world.catalog, world.plan, warehouse, Options(files_per_batch=1, buckets=2), seal)
    assert "\n" not in str(caught.value)
    assert newest(stream_storage(warehouse, STREAM)).batch == batches[0]
    assert len(batches) == 1
    evaluate(world, warehouse)
    assert_same(world, warehouse, world.warehouse("reference"))


def test_two_runs_at_once(world: Readings) -> None:
    warehouse = world.copy("base", "twice")
    with only_run(stream_storage(warehouse, STREAM)):
        code, said = run_apart(world, warehouse)
    assert code == 2
    assert f"another run (process {os.getpid()}) is evaluating this stream" in said
    evaluate(world, warehouse)
    assert_same(world, warehouse, world.warehouse("reference"))


def test_a_batch_is_committed_once(world: Readings) -> None:
    storage = stream_storage(world.copy("base", "once"), STREAM)
    after = replace(newest(storage), sequence=newest(storage).sequence + 1)
    commit(storage, after)
    with pytest.raises(HeddleError, match="another run committed this batch meanwhile"):
        commit(storage, after)


def test_spark_and_local_are_not_mixed(world: Readings) -> None:
    warehouse = world.copy("base", "mixed")
    Path(stream_storage(warehouse, STREAM).path(f"{CHECKPOINT}/offsets")).mkdir(parents=True)
    (Path(stream_storage(warehouse, STREAM).path(f"{CHECKPOINT}/offsets")) / "0").touch()
    with refused(world, warehouse, "has been evaluated without --local; go on without --local"):
        evaluate(world, warehouse)


def test_late_events_are_on_disk_once(world: Readings) -> None:
    storage = stream_storage(world.warehouse("reference"), STREAM)
    late = newest(storage).late
    assert sum(file.rows for file in late) == sum(pq.read_table(storage.path(file.name)).num_rows for file in late) > 0
