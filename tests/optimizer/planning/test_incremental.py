"""A plan that queries join and leave."""

from __future__ import annotations

import random

import pytest

from optimizer import optimize
from optimizer.errors import HeddleError
from optimizer.plan.definition import Measure, Traffic
from optimizer.planning.reweave import RunningPlan
from optimizer.strategies.search.incremental import Drift
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
