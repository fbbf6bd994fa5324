"""WeaveShare against its literal form, and at a size where only classes can be searched."""

from __future__ import annotations

import numpy as np
import pytest

from optimizer import optimize
from optimizer.strategies.contract import strategy as contract
from tests.optimizer.strategies.instances import TECHNIQUES, instance
from tests.optimizer.strategies.literal import literal_greedy


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_never_dearer_than_the_literal_greedy(technique: str) -> None:
    for seed in range(60):
        windows, rate = instance(seed, 4 + seed % 7)
        literal, _ = literal_greedy(windows, rate, technique)
        assert optimize(windows, rate, "weave_share", technique).cost <= literal * (1 + 1e-9), (seed, technique)


@pytest.mark.parametrize("technique", ["flat_fit", "slick_deque_inv"])
def test_never_dearer_than_the_literal_greedy_at_thirty_queries(technique: str) -> None:
    for seed in range(3):
        windows, rate = instance(3 * seed, 30)
        literal, _ = literal_greedy(windows, rate, technique)
        assert optimize(windows, rate, "weave_share", technique).cost <= literal * (1 + 1e-9)


@pytest.mark.parametrize("technique", [*TECHNIQUES, "auto"])
def test_many_queries_stay_columns(technique: str) -> None:
    rng = np.random.default_rng(5)
    slides = rng.choice([1, 2, 5, 10, 20, 50, 100], 50_000)
    ranges = slides * rng.integers(1, 10_001, 50_000)
    plan = optimize((ranges, slides), 10.0, "weave_share", technique)
    assert sum(len(tree.queries) for tree in plan.trees) == 50_000
    assert plan.cost == pytest.approx(plan.recomputed_cost(), rel=1e-12)
    assert plan.cost <= min(plan.baselines.values()) * (1 + 1e-12)


def test_many_classes_with_residues() -> None:
    rng = np.random.default_rng(6)
    slides = rng.choice([1, 2, 4, 5, 8, 10, 20, 25, 40, 50, 100], 1_500)
    ranges = slides * rng.integers(1, 101, 1_500) + rng.integers(0, slides)
    for technique in ("flat_fit", "slick_deque_inv", "flat_fat"):
        plan = optimize((ranges, slides), 10.0, "weave_share", technique)
        assert plan.cost == pytest.approx(plan.recomputed_cost(), rel=1e-9)
        assert plan.cost <= min(plan.baselines.values()) * (1 + 1e-12)


def test_more_classes_than_can_be_searched_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are searched in bundles; still a whole plan, never dearer than no_share."""
    monkeypatch.setattr(contract, "MOST_CLASSES", 10)
    windows, rate = instance(1, 400)
    for strategy in ("weave_share", "tri_weave"):
        plan = optimize(windows, rate, strategy, "flat_fit")
        assert sorted(query for tree in plan.trees for query in tree.queries) == list(range(400))
        assert plan.cost == pytest.approx(plan.recomputed_cost(), rel=1e-12)
        assert plan.cost <= plan.costs.no_share * (1 + 1e-12)
