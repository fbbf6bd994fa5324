"""A plan that queries join and leave."""

from __future__ import annotations

import random

import pytest

from optimizer import optimize
from optimizer.errors import HeddleError
from optimizer.plan.definition import Measure, Traffic
from optimizer.planning.running_plan import Member, RunningPlan
from optimizer.strategies.search.incremental import Drift
from optimizer.windows.window import Window
from tests.optimizer.strategies.instances import instance


def test_queries_join_and_leave() -> None:
    windows, rate = instance(3, 40)
    running = RunningPlan(Traffic(rate), "flat_fit")
    rng = random.Random(1)
    for number, window in enumerate(windows):
        running.add(f"q{number}", window)
        if number % 3 == 2:
            running.delete(rng.choice(sorted(running.members)))
        plan = running.plan()
        assert sorted(query for tree in plan.trees for query in tree.queries) == sorted(running.members)
        assert plan.cost == pytest.approx(running.cost, rel=1e-9)
        assert plan.cost == pytest.approx(plan.recomputed_cost(), rel=1e-12)
        assert plan.cost <= plan.costs.no_share * (1 + 1e-9)
    assert running.exact_deviation() <= 0.25


def test_a_rebuild_is_what_weave_share_gives() -> None:
    windows, rate = instance(3, 40)
    running = RunningPlan(Traffic(rate), "flat_fit", tolerance=1e9)
    for number, window in enumerate(windows):
        running.add(f"q{number:02}", window)
    woven = optimize(windows, rate, "weave_share", "flat_fit").cost
    expected = running.cost / woven - 1
    assert running.exact_deviation() == pytest.approx(expected, abs=1e-9)
    running.rebuild()
    assert running.cost == pytest.approx(woven, rel=1e-9)
    assert running.exact_deviation() == pytest.approx(0.0, abs=1e-9)


def test_measures_share_trees() -> None:
    running = RunningPlan(Traffic(10.0, keys=5.0), group_by=("machine",))
    total, peak = Measure("sum", ("x",)), Measure("max", ("x",))
    (first, second), _ = instance(0, 2)
    running.add("a", first, (total,))
    running.add("b", first, (peak,))
    running.add("c", second, (total, peak))
    plan = running.plan("sensors")
    assert plan.stream == "sensors"
    assert plan.cost == pytest.approx(running.cost, rel=1e-9)


def test_mistakes_get_one_line() -> None:
    running = RunningPlan(Traffic(10.0))
    (window,), _ = instance(0, 1)
    running.add("a", window)
    with pytest.raises(HeddleError, match="a is in the plan already"):
        running.add("a", window)
    with pytest.raises(HeddleError, match="b is not in the plan"):
        running.delete("b")


def test_the_slope_of_the_last_two_builds_predicts() -> None:
    drift = Drift(tolerance=0.1, patience=1e9)
    drift.remember_build(10, 100.0)
    drift.remember_build(20, 150.0)
    assert drift.predicted(24) == pytest.approx(170.0)
    assert drift.deviation(24, 187.0) == pytest.approx(0.1)
    assert not drift.is_due(24, 186.0)
    assert drift.is_due(24, 188.0)


@pytest.mark.parametrize("strategy", ["weave_share", "cascade"])
def test_every_step_of_a_churn_is_within_the_tolerance(strategy: str) -> None:
    windows, rate = instance(5, 60)
    running = RunningPlan(Traffic(rate), "flat_fit", strategy=strategy)
    running.adopt([{f"q{number}": Member(window)} for number, window in enumerate(windows[:12])])
    running.rebuild()
    rng = random.Random(2)
    for number, window in enumerate(windows[12:32]):
        if rng.random() < 0.5 and len(running.members) > 8:
            running.delete(rng.choice(sorted(running.members)))
        else:
            running.add(f"n{number}", window)
        assert running.exact_deviation() <= 0.05
        assert running.plan().cost <= running.cost * (1 + 1e-9)  # helpers make it cheaper still


def test_deletes_are_changes_and_merge_what_they_leave() -> None:
    running = RunningPlan(Traffic(1.2), "panes", tolerance=1e9)
    running.rebuilds = False
    running.adopt([{"a": Member(Window(16, 4))}, {"b": Member(Window(8, 4)), "c": Member(Window(10, 5))}])
    running.delete("c")
    assert sorted(map(sorted, running.trees)) == [["a", "b"]]
    assert running.drift.changes == 1
