"""Runs without Spark in processes that may die, forked from one that has everything loaded."""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from jobs.host.stops import KILL_AT
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from optimizer.errors import HeddleError
from tests.worlds.readings import Readings, open_world

NO_STORE: Mapping[str, str] = {}
FILL = "TEST_FILL"  # a folder whose disk is filled at the step at which the process would be killed
BALLAST = "ballast"  # the file that fills it
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.whole.faults.local_runs"])


def evaluate(world: Readings, warehouse: str, files_per_batch: int = 1) -> None:
    """A batch per file, or all at once, in this process."""
    evaluate_local(world.catalog, world.plan, warehouse, Options(files_per_batch=files_per_batch, buckets=2))


def run_apart(
    world: Readings,
    warehouse: str,
    kill_at: str = "",
    largest_file: int = 0,
    files_per_batch: int = 1,
    store: Mapping[str, str] = NO_STORE,
) -> tuple[int, str]:
    """The same in a process of its own: its exit code and the line it said."""
    return start_apart(world, warehouse, kill_at, largest_file, files_per_batch, store)()


def start_apart(
    world: Readings,
    warehouse: str,
    kill_at: str = "",
    largest_file: int = 0,
    files_per_batch: int = 1,
    store: Mapping[str, str] = NO_STORE,
) -> Callable[[], tuple[int, str]]:
    """Start a run in a process of its own, which is told how a store is reached; return how to wait for its end."""
    here = Path(tempfile.mkdtemp(dir=world.folder, prefix="run_"))
    orders, said = here / "orders", here / "said"
    orders.mkdir()
    if kill_at:
        (orders / kill_at).touch()
    said.write_text("")
    settings = {KILL_AT: str(orders), **store}
    process = FORKS.Process(
        target=_child, args=(world.folder, warehouse, settings, said, largest_file, files_per_batch)
    )
    process.start()

    def wait() -> tuple[int, str]:
        process.join()
        assert process.exitcode is not None
        return process.exitcode, said.read_text()

    return wait


def _child(
    folder: Path, warehouse: str, settings: Mapping[str, str], said: Path, largest_file: int, files_per_batch: int
) -> None:
    os.environ.update(settings)
    if disk := settings.get(FILL):
        os.kill = lambda pid, number: fill_disk(Path(disk))  # type: ignore[assignment]
    world = open_world(folder)
    if largest_file:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, resource.RLIM_INFINITY))
    try:
        evaluate(world, warehouse, files_per_batch)
    except HeddleError as error:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        said.write_text(str(error))
        sys.exit(2)


def fill_disk(folder: Path) -> None:
    """Write until nothing more fits on the disk of a folder."""
    with (folder / BALLAST).open("wb", buffering=0) as ballast:
        size = 1 << 16
        while size:
            try:
                ballast.write(bytes(size))
            except OSError:
                size //= 2
