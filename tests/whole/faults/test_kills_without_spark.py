"""kill -9 at every step of a batch; the next run carries on, and nobody can tell."""

from __future__ import annotations

import signal

import pytest

from jobs.host.stops import DRIVER_STEPS, TASK_STEPS
from tests.whole.faults.local_runs import evaluate, run_apart
from tests.worlds.readings import Readings, assert_same


@pytest.mark.slow
@pytest.mark.parametrize("step", [*DRIVER_STEPS, *TASK_STEPS])
def test_a_killed_run_is_carried_on(world: Readings, step: str) -> None:
    warehouse = world.copy("base", f"killed_{step}")
    assert run_apart(world, warehouse, kill_at=step) == (-signal.SIGKILL, "")
    evaluate(world, warehouse)
    assert_same(world, warehouse, world.warehouse("reference"))


@pytest.mark.slow
@pytest.mark.parametrize("step", [*DRIVER_STEPS, *TASK_STEPS])
def test_a_killed_run_of_one_batch_is_carried_on(world: Readings, step: str) -> None:
    """The batch that closes what its own events let end."""
    evaluate(world, world.copy("base", "calm_at_once"), files_per_batch=0)
    warehouse = world.copy("base", f"killed_at_once_{step}")
    assert run_apart(world, warehouse, kill_at=step, files_per_batch=0) == (-signal.SIGKILL, "")
    evaluate(world, warehouse, files_per_batch=0)
    assert_same(world, warehouse, world.warehouse("calm_at_once"))


def test_killed_before_its_first_batch_is_out(world: Readings) -> None:
    for step in ("drafted", "results", "committed"):
        assert run_apart(world, world.warehouse("new"), kill_at=step)[0] == -signal.SIGKILL
    evaluate(world, world.warehouse("new"))
    evaluate(world, world.warehouse("calm"))
    assert_same(world, world.warehouse("new"), world.warehouse("calm"))


def test_killed_between_the_last_batch_and_the_closing(world: Readings) -> None:
    """Nothing is left to read, but windows are left to emit."""
    warehouse = world.copy("base", "unclosed")
    for _ in (3, 4):
        assert run_apart(world, warehouse, kill_at="committed")[0] == -signal.SIGKILL
    evaluate(world, warehouse)
    assert_same(world, warehouse, world.warehouse("reference"))
