"""What every strategy promises, for every line of STRATEGIES."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from optimizer import Plan, optimize
from optimizer.plan.counters import TYPICAL
from optimizer.plan.prices import Prices
from optimizer.strategies import STRATEGIES
from optimizer.workloads import Workload
from optimizer.workloads.generators import zipf_slides
from tests.optimizer.strategies.instances import TECHNIQUES, instance
from tests.oracle.naive import best_partition

CASES = [(seed, TECHNIQUES[seed % len(TECHNIQUES)]) for seed in range(18)]


@pytest.fixture(params=STRATEGIES)
def strategy(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.mark.parametrize(("seed", "technique"), CASES)
def test_every_query_is_in_one_tree_and_the_cost_is_the_trees(strategy: str, seed: int, technique: str) -> None:
    windows, rate = instance(seed, 3 + seed % 6)
    plan = optimize(windows, rate, strategy, technique)
    answered = sorted(query for tree in plan.trees for query in tree.queries)
    assert answered == list(range(len(windows)))
    for tree in plan.trees:
        assert {windows[query] for query in tree.queries} <= set(tree.windows) or not tree.queries
        assert tree.technique == (technique if tree.queries else "")
    assert plan.cost == pytest.approx(plan.recomputed_cost(), rel=1e-12)
    assert plan.cost == pytest.approx(sum(tree.cost for tree in plan.trees), rel=1e-12)
    assert plan.exact


@pytest.mark.parametrize(("seed", "technique"), CASES)
def test_a_plan_does_not_depend_on_the_order_of_the_windows(strategy: str, seed: int, technique: str) -> None:
    windows, rate = instance(seed, 3 + seed % 6)
    shuffled = windows.copy()
    random.Random(seed).shuffle(shuffled)
    plan, again = (optimize(given, rate, strategy, technique) for given in (windows, shuffled))
    assert plan.fingerprint() == again.fingerprint()
    assert plan.cost == again.cost


@pytest.mark.parametrize(("seed", "technique"), CASES)
def test_a_plan_comes_back_from_json(strategy: str, seed: int, technique: str) -> None:
    windows, rate = instance(seed, 3 + seed % 6)
    plan = optimize(windows, rate, strategy, technique)
    again = Plan.from_json(plan.to_json())
    assert again == plan
    assert again.fingerprint() == plan.fingerprint()
    assert again.recomputed_cost() == pytest.approx(plan.cost, rel=1e-12)


@pytest.mark.parametrize(("seed", "technique"), CASES)
def test_never_dearer_than_no_share_and_never_below_the_optimum(strategy: str, seed: int, technique: str) -> None:
    windows, rate = instance(seed, 3 + seed % 6)
    card = STRATEGIES[strategy]
    plan = optimize(windows, rate, strategy, technique)
    if not card.plain:
        assert plan.cost <= min(plan.costs.no_share, plan.costs.shared) * (1 + 1e-9)
    if card.model == "weave_share":
        optimum = optimize(windows, rate, "exhaustive", technique).cost
        assert plan.cost >= optimum * (1 - 1e-12)


def draw_irregular(queries: int, seed: int) -> Workload:
    """Slides of any length, and ranges that are no multiples of them."""
    rng = np.random.default_rng(seed)
    slides = rng.integers(6, 360, queries, endpoint=True)
    return Workload(rng.integers(slides, slides * 20, endpoint=True), slides)


WORKLOADS: dict[str, Callable[[int, int], Workload]] = {
    "irregular": draw_irregular,
    "zipf": lambda queries, seed: zipf_slides(queries, seed, 60, 20),
    "residues": lambda queries, seed: zipf_slides(queries, seed, 60, 20, residues=True),
}
CURRENCIES = {"operations": None, "seconds": Prices(TYPICAL)}


@pytest.mark.parametrize("currency", CURRENCIES)
@pytest.mark.parametrize("name", WORKLOADS)
def test_no_search_ends_above_one_tree_or_none_shared(name: str, currency: str) -> None:
    """And weave_share within 2% of the best of what is simpler, where classes are many and where they are few."""
    for queries, seed in ((6, 1), (20, 2)):
        windows, prices = WORKLOADS[name](queries, seed), CURRENCIES[currency]
        cost = {}
        for strategy in STRATEGIES:
            if strategy != "exhaustive":  # for few windows only
                plan = optimize((windows.range, windows.slide), 10.0, strategy, "two_stacks_block", prices=prices)
                cost[strategy] = plan.cost if prices is None else plan.costs.seconds or 0.0
        plain = min(cost["no_share"], cost["shared"])
        above = {s: c / plain for s, c in cost.items() if not STRATEGIES[s].plain and c > plain * (1 + 1e-9)}
        assert not above, (queries, above)
        simpler = min(cost[other] for other in ("insert_then_weave", "local_search", "shared"))
        assert cost["weave_share"] <= 1.02 * simpler, queries


@pytest.mark.parametrize("seed", range(0, 12, 2))
def test_exhaustive_and_the_baselines_are_the_oracles(seed: int) -> None:
    windows, rate = instance(seed, 4)
    technique = TECHNIQUES[seed % len(TECHNIQUES)]
    found = optimize(windows, rate, "exhaustive", technique)
    optimum, _ = best_partition(sorted(set(windows)), rate, technique)
    assert found.cost == pytest.approx(float(optimum), rel=1e-9)
    for name, baseline in found.baselines.items():
        assert optimize(windows, rate, name, technique).cost == pytest.approx(baseline, rel=1e-9)


def test_every_feeder_has_the_edges_of_what_it_feeds(strategy: str) -> None:
    for seed in range(9):
        windows, rate = instance(seed, 8)
        plan = optimize(windows, rate, strategy, "panes")
        for tree in plan.trees:
            if tree.feed != "events":
                edges = (*plan.tree(tree.feed).windows, *tree.windows)
                assert optimize(edges, 1.0, "shared", "panes").trees[0].edge_rate == plan.tree(tree.feed).edge_rate
