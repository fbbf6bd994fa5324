"""The cost models: golden plans, the oracle, keys and components, and the papers' worked example by name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.cost.omega import OMEGA, Load, omega
from optimizer.cost.tree_cost import RAW
from optimizer.windows import EdgeSpace, Window, edge_rate, progressions
from tests.oracle import naive
from tests.oracle.models import TreeCost, cascade, cheapest_feeds, tri_weave, weave_share

PLANS: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "golden" / "optimizer.json").read_text())["plans"]
TECHNIQUES = {
    "panes": "panes",
    "flatfat": "flat_fat",
    "flatfit": "flat_fit",
    "inv": "slick_deque_inv",
    "noninv": "slick_deque_noninv",
}
CASES = [pytest.param(case, kind, id=f"{case['queries'][:3]}-{kind}") for case in PLANS for kind in case["kinds"]]

windows = st.builds(Window, range=st.integers(1, 60), slide=st.sampled_from([1, 2, 3, 4, 6, 8, 12]))
forests = st.lists(st.lists(windows, min_size=1, max_size=2), min_size=1, max_size=4)


def tree_cost(tree: Sequence[Window], technique: str) -> TreeCost:
    rate = edge_rate(tree)
    return TreeCost(rate, {"sum": omega(technique, Load.of(tree), rate)})


def cascade_cost(partition: Sequence[Sequence[Window]], rate: float, technique: str) -> float:
    """The cheaper of both: with and without a union root that answers no query."""
    trees = [tree_cost(tree, technique) for tree in partition]
    everything = [window for tree in partition for window in tree]
    root = TreeCost(edge_rate(everything), {"sum": 0.0})
    space = EdgeSpace([*map(progressions, everything)])
    sizes = [len(tree) for tree in partition]
    masks = [((1 << size) - 1) << sum(sizes[:place]) for place, size in enumerate(sizes)]
    masks.append((1 << len(everything)) - 1)
    costs = []
    for nodes in (trees, [*trees, root]):
        feeds = cheapest_feeds(rate, nodes, lambda i, j: space.contains(masks[i], masks[j]))
        costs.append(cascade(rate, nodes, feeds))
    return min(costs)


@pytest.mark.parametrize(("case", "kind"), CASES)
def test_golden_plans_cost_what_they_should(case: dict[str, Any], kind: str) -> None:
    golden, technique = case["kinds"][kind], TECHNIQUES[kind]
    tree = [Window(*query) for query in case["queries"]]
    forests = {
        "noshare": [[window] for window in tree],
        "shared": [tree],
        "greedy": [[Window(*query) for query in queries] for queries in golden["greedy_trees"]],
    }
    for name, partition in forests.items():
        cost = weave_share(case["lam"], [tree_cost(tree, technique) for tree in partition])
        assert cost == pytest.approx(golden[name], rel=1e-9)


@pytest.mark.parametrize(("case", "kind"), [case for case in CASES if len(case.values[0]["queries"]) <= 5])
def test_golden_tri_weave_is_the_cost_of_a_partition(case: dict[str, Any], kind: str) -> None:
    tree, technique = [Window(*query) for query in case["queries"]], TECHNIQUES[kind]
    union_rate = edge_rate(tree)
    assert float(union_rate) == pytest.approx(case["E_all"])
    costs = [
        tri_weave(case["lam"], [tree_cost(part, technique) for part in partition], union_rate)
        for partition in naive.partitions(tree)
    ]
    assert any(cost == pytest.approx(case["kinds"][kind]["triweave_A1"], rel=1e-9) for cost in costs)


def class_level_partitions(tree: list[Window]) -> list[list[list[Window]]]:
    classes: dict[Any, list[Window]] = {}
    for window in tree:
        classes.setdefault(progressions(window), []).append(window)
    stand_ins = {group[0]: group for group in classes.values()}
    return [
        [[window for first in part for window in stand_ins[first]] for part in partition]
        for partition in naive.partitions(list(stand_ins))
    ]


@pytest.mark.parametrize(("case", "kind"), [case for case in CASES if len(case.values[0]["queries"]) <= 6])
def test_golden_cascade_optimum_is_the_cheapest_partition(case: dict[str, Any], kind: str) -> None:
    golden = case["kinds"][kind]
    partitions = class_level_partitions([Window(*query) for query in case["queries"]])
    best = min(cascade_cost(partition, case["lam"], TECHNIQUES[kind]) for partition in partitions)
    assert best == pytest.approx(golden.get("cascade_optimum_class_level", best), rel=1e-9)
    assert best <= golden["triweave_A1"] * (1 + 1e-9)


@given(forests, st.fractions(0, 5, max_denominator=8), st.sampled_from(sorted(OMEGA)))
@settings(max_examples=80, deadline=None)
def test_all_three_models_are_the_oracles(partition: list[list[Window]], rate: Fraction, technique: str) -> None:
    trees = [tree_cost(tree, technique) for tree in partition]
    union_rate = edge_rate([window for tree in partition for window in tree])
    costs = {
        "weave_share": weave_share(float(rate), trees),
        "tri_weave": tri_weave(float(rate), trees, union_rate),
        "cascade": cascade_cost(partition, float(rate), technique),
    }
    for model, cost in costs.items():
        assert cost == pytest.approx(float(naive.COSTS[model](partition, rate, technique)), rel=1e-9), model


def test_cikm11_example_3() -> None:
    first, second, third = Window(16, 4), Window(10, 5), Window(8, 4)
    cost = {
        name: weave_share(1.2, [tree_cost(tree, "panes") for tree in partition])
        for name, partition in {
            "no_share": [[first], [second], [third]],
            "woven": [[first, third], [second]],
            "shared": [[first, second, third]],
        }.items()
    }
    assert cost == pytest.approx({"no_share": 5.5, "woven": 4.3, "shared": 4.4})


def test_keys_multiply_finals_and_what_is_read_of_partials() -> None:
    one, many = TreeCost(Fraction(1, 4), {"sum": 6.0}), TreeCost(Fraction(1, 4), {"sum": 6.0}, keys=50)
    root = TreeCost(Fraction(1, 2), {"sum": 0.0}, keys=50)
    assert weave_share(2.0, [one]) == 2.0 + 1.5
    assert weave_share(2.0, [many]) == 2.0 + 50 * 1.5
    assert tri_weave(2.0, [many], Fraction(1, 2)) == 2.0 + 50 * 0.5 + 50 * 1.5
    assert cascade(2.0, [many, root], [1, RAW]) == 50 * 0.5 + 50 * 1.5 + 2.0


def test_partials_of_many_keys_are_dearer_than_events() -> None:
    fed, feeder = (TreeCost(Fraction(1, edges), {"sum": 1.0}, keys=10) for edges in (8, 4))
    assert cheapest_feeds(3.0, [fed, feeder], lambda outer, inner: outer > inner) == [1, RAW]
    assert cheapest_feeds(2.0, [fed, feeder], lambda outer, inner: outer > inner) == [RAW] * 2


def test_a_tree_is_fed_once_per_component() -> None:
    small, large = (
        TreeCost(Fraction(1, 4), {"sum": 6.0, "max": 4.0}),
        TreeCost(Fraction(1, 2), {"sum": 0.0, "max": 0.0}),
    )
    assert weave_share(2.0, [small]) == 2 * 2.0 + 2.5
    assert tri_weave(2.0, [small], Fraction(1, 2)) == 2 * 2.0 + 2 * 0.5 + 2.5
    assert cascade(2.0, [small, large], [1, RAW]) == 2 * 0.5 + 2.5 + 2 * 2.0


def test_a_tree_feeds_only_components_that_it_keeps() -> None:
    fed = TreeCost(Fraction(1, 8), {"max": 1.0})
    feeder = TreeCost(Fraction(1, 4), {"sum": 1.0})
    both = TreeCost(Fraction(1, 2), {"sum": 1.0, "max": 1.0})

    def contains(outer: int, inner: int) -> bool:
        return outer > inner

    assert cheapest_feeds(5.0, [fed, feeder, both], contains) == [2, 2, RAW]
    assert cheapest_feeds(0.1, [fed, feeder, both], contains) == [RAW] * 3
