"""The shared test vectors: plans by name and technique, and the papers' worked examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from optimizer import Window, optimize
from optimizer.strategies.cascade import exact
from optimizer.strategies.contract.problem import make_problem
from optimizer.strategies.contract.units import CostModel, Pricing, Units
from optimizer.strategies.search.feeds import Cascades
from optimizer.windows.window import WindowSet

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "optimizer.json").read_text())
NAMES = {
    "panes": "panes",
    "flatfat": "flat_fat",
    "flatfit": "flat_fit",
    "inv": "slick_deque_inv",
    "noninv": "slick_deque_noninv",
}
CASES = [
    pytest.param(plan, kind, id=f"{plan['name'] or number}-{kind}")
    for number, plan in enumerate(GOLDEN["plans"])
    for kind in plan["kinds"]
]


def windows_of(plan: dict[str, Any]) -> list[Window]:
    return [Window(range=r, slide=s) for r, s in plan["queries"]]


@pytest.mark.parametrize(("plan", "kind"), CASES)
def test_plans(plan: dict[str, Any], kind: str) -> None:
    expected = plan["kinds"][kind]

    def cost(strategy: str) -> float:
        return optimize(windows_of(plan), plan["lam"], strategy, NAMES[kind]).cost

    assert cost("no_share") == pytest.approx(expected["noshare"], rel=1e-9)
    assert cost("shared") == pytest.approx(expected["shared"], rel=1e-9)
    assert cost("exhaustive") == pytest.approx(expected["optimum"], rel=1e-9)
    assert cost("tri_weave") <= expected["triweave_A1"] * (1 + 1e-9)
    woven = cost("weave_share")
    assert expected["optimum"] * (1 - 1e-9) <= woven <= expected["greedy"] * (1 + 1e-9)


@pytest.mark.parametrize(("plan", "kind"), CASES)
def test_cascades(plan: dict[str, Any], kind: str) -> None:
    """Where only a root may answer no query, the exact search ends at the vectors' optimum; helpers go below it."""
    optimum = plan["kinds"][kind].get("cascade_optimum_class_level")
    if optimum is None:
        assert kind in ("flatfat", "inv")  # there, splitting a class can pay
        return
    problem = make_problem(WindowSet.of(windows_of(plan))).problem
    pricing = Pricing(Units.classes(problem), CostModel(plan["lam"], ((NAMES[kind],),)))
    assert Cascades(pricing).price(exact(pricing, helpers=False)) == pytest.approx(optimum, rel=1e-9)
    assert optimize(windows_of(plan), plan["lam"], "cascade", NAMES[kind]).cost <= optimum * (1 + 1e-9)


def test_weave_share_example_3() -> None:
    """(16,4) (10,5) (8,4) at 1.2 events a tick: 5.5 unshared, 4.3 woven, 4.4 if merged further."""
    windows = [Window(range=16, slide=4), Window(range=10, slide=5), Window(range=8, slide=4)]
    plan = optimize(windows, rate=1.2, strategy="weave_share", technique="panes")
    assert plan.costs.no_share == pytest.approx(5.5)
    assert plan.cost == pytest.approx(4.3)
    assert plan.costs.shared == pytest.approx(4.4)
    assert [set(tree.windows) for tree in plan.trees] == [{windows[0], windows[2]}, {windows[1]}]
    assert [tree.technique for tree in plan.trees] == ["panes", "panes"]


def test_tri_weave_on_example_3() -> None:
    """One sub-aggregation at the union of edges (0.4) feeds both trees."""
    windows = [Window(range=16, slide=4), Window(range=10, slide=5), Window(range=8, slide=4)]
    plan = optimize(windows, rate=1.2, strategy="tri_weave", technique="panes")
    assert plan.cost == pytest.approx(3.9)
    root, *others = plan.trees
    assert not root.queries
    assert float(root.edge_rate) == pytest.approx(0.4)
    assert {tree.feed for tree in others} == {root.id}
