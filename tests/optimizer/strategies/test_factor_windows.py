"""Factor windows: the paper's examples by name, its corrected algorithms, and plans that can run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from optimizer import Window, optimize
from optimizer.cost.tree_cost import RAW
from optimizer.strategies.contract.problem import Watch, make_problem
from optimizer.strategies.contract.units import CostModel
from optimizer.strategies.factor_windows import (
    best_factor,
    cheapest_graph,
    covered_by,
    factor_windows,
    graph_cost,
    partitioned_by,
    period,
    with_common_factors,
    with_factors,
)
from optimizer.windows.window import WindowSet
from optimizer.workloads.generators import random_gen

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "optimizer.json").read_text())["factor_windows"]


def tumbling(*ranges: int) -> list[Window]:
    return [Window(r, r) for r in ranges]


@pytest.mark.parametrize("example", [found for found in GOLDEN if "windows" in found], ids=lambda e: e["name"])
def test_examples(example: dict[str, object]) -> None:
    windows = [Window(r, s) for r, s in example["windows"]]  # type: ignore[attr-defined]
    ticks = period(windows)
    with_all = with_factors(windows, partitioned_by, Watch())
    if "base" in example:
        assert graph_cost(dict.fromkeys(windows), ticks) == example["base"]
    assert graph_cost(cheapest_graph(windows, partitioned_by), ticks) == example["alg1"]
    expected = example.get("alg3", example.get("alg3_with_post_check"))
    if expected is not None:
        assert graph_cost(with_all, ticks) == expected
    if "factors" in example:
        assert [[w.range, w.slide] for w in with_all if w not in windows] == example["factors"]


def test_example_8() -> None:
    example = next(found for found in GOLDEN if "target" in found)
    downstream = [Window(r, s) for r, s in example["downstream"]]
    chosen = best_factor(Window(*example["target"]), downstream, partitioned_by, period(downstream))
    assert chosen == Window(*example["chosen"])


@pytest.mark.parametrize("hopping", [False, True])
def test_factors_of_some_windows_save_what_a_factor_of_all_cannot(hopping: bool) -> None:
    relation = covered_by if hopping else partitioned_by
    falls = []
    for seed in range(10):
        windows = list(random_gen(15, seed, hopping=hopping).windows())
        paper = with_factors(windows, relation, Watch())
        graph = with_common_factors(paper, relation, period(windows), Watch())
        assert all(parent is None or relation(window, parent) for window, parent in graph.items())
        falls.append(graph_cost(graph, period(windows)) / graph_cost(paper, period(windows)))
    assert max(falls) <= 1
    assert sorted(falls)[5] < 0.8


def test_relations() -> None:
    assert covered_by(Window(12, 4), Window(8, 2))
    assert not covered_by(Window(11, 4), Window(8, 2))
    assert not covered_by(Window(12, 3), Window(8, 2))
    assert not partitioned_by(Window(12, 4), Window(8, 2))
    assert partitioned_by(Window(12, 4), Window(4, 4))
    assert not partitioned_by(Window(12, 6), Window(4, 4))  # the slide counts too
    assert not covered_by(Window(12, 4, 1), Window(4, 4))


def test_a_factor_window_is_a_tree_that_answers_no_query() -> None:
    plan = optimize(tumbling(20, 30, 40), 50.0, "factor_windows", "flat_fit")
    factor = next(tree for tree in plan.trees if not tree.queries)
    assert set(factor.windows) == {Window(10, 10)}
    fed = [tree for tree in plan.trees if tree.feed == factor.id]
    assert {window for tree in fed for window in tree.windows} >= {Window(20, 20), Window(30, 30)}
    assert plan.cost < optimize(tumbling(20, 30, 40), 50.0, "no_share", "flat_fit").cost


def test_where_events_are_rare_nobody_is_fed_by_partials() -> None:
    plan = optimize(tumbling(20, 30, 40), 0.01, "factor_windows", "flat_fit")
    assert {tree.feed for tree in plan.trees} == {"events"}


def test_overlapping_sub_aggregates_serve_selective_techniques_only() -> None:
    problem = make_problem(WindowSet.of([Window(8, 2), Window(12, 4)])).problem
    selective = factor_windows(problem, CostModel(100.0, (("slick_deque_noninv",),)), Watch())
    assert set(selective.feeds) == {RAW, 0}
