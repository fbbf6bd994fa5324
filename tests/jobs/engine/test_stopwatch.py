"""The stopwatch gives every CPU second to the step that spent it."""

from __future__ import annotations

import pytest

from jobs.engine.work import Stopwatch, add_up


def test_laps_of_a_step_add_up_and_leave_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([11.0, 13.5, 14.0])
    monkeypatch.setattr("time.process_time", lambda: next(clock))
    watch = Stopwatch(_last=10.0)
    watch.lap("read")
    watch.lap("feed")
    watch.lap("read")
    assert watch.seconds == {"read": 1.5, "feed": 2.5}


def test_amounts_of_many_tasks_add_up_by_name() -> None:
    assert add_up([{"read": 1.0, "feed": 2.0}, {}, {"read": 0.5}]) == {"read": 1.5, "feed": 2.0}
