"""What a user may choose about a search: the counter of edges, the slicing, and whether factors are invented."""

from __future__ import annotations

import numpy as np
import pytest

from optimizer import Window, optimize
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan
from optimizer.strategies import STRATEGIES
from optimizer.strategies.contract.problem import SearchOptions
from optimizer.windows import edge_rate
from optimizer.windows.counters import COUNTERS
from optimizer.windows.window import SLICINGS
from optimizer.workloads.generators import factors, zipf_slides

ODD = [Window(16, 4), Window(10, 4), Window(9, 6), Window(21, 5)]
EVEN = [Window(16, 4), Window(12, 6), Window(30, 10)]


@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.parametrize("strategy", ["weave_share", "cascade", "shared"])
def test_every_counter_leads_to_the_same_plan(counter: str, strategy: str) -> None:
    windows = EVEN if counter == "divisor_mask" else ODD
    named = optimize(windows, 1.2, strategy, "panes", options=SearchOptions(edges=counter))
    auto = optimize(windows, 1.2, strategy, "panes")
    assert named.fingerprint() == auto.fingerprint()
    assert named.cost == pytest.approx(auto.cost, rel=1e-12)


def test_a_counter_that_does_not_apply_says_so() -> None:
    with pytest.raises(HeddleError, match="divisor_mask needs windows without residues"):
        optimize(ODD, 1.2, options=SearchOptions(edges="divisor_mask"))
    many = [Window(prime, prime) for prime in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59)]
    with pytest.raises(HeddleError, match="f1 takes 2\\^n steps"):
        optimize(many, 1.2, "shared", options=SearchOptions(edges="f1"))
    with pytest.raises(HeddleError, match="there is no counter of edges 'bitset'; did you mean bit_set"):
        SearchOptions(edges="bitset")


@pytest.mark.parametrize("slicing", SLICINGS)
@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "exhaustive"])
def test_trees_have_the_edges_of_their_slicing(slicing: str, strategy: str) -> None:
    plan = optimize(ODD, 5.0, strategy, "flat_fit", options=SearchOptions(slicing=slicing))
    for tree in plan.trees:
        assert tree.slicing == slicing
        if tree.queries:
            assert tree.edge_rate == edge_rate(tree.windows, slicing)
    assert Plan.from_json(plan.to_json()).trees == plan.trees
    assert plan.recomputed_cost() == pytest.approx(plan.cost)


def test_cutty_has_the_fewest_edges_and_panes_the_most() -> None:
    cutty, pairs, panes = (
        optimize(ODD, 5.0, "shared", "flat_fit", options=SearchOptions(slicing=name))
        for name in ("cutty", "pairs", "panes")
    )
    assert cutty.cost < pairs.cost < panes.cost
    assert len({plan.fingerprint() for plan in (cutty, pairs, panes)}) == 3


def test_factor_windows_can_be_left_out() -> None:
    windows = [Window(length, length) for length in (20, 30, 40)]
    without = optimize(windows, 50.0, "factor_windows", "flat_fit", options=SearchOptions(factor_windows=False))
    assert all(tree.queries for tree in without.trees)
    assert any(not tree.queries for tree in optimize(windows, 50.0, "factor_windows", "flat_fit").trees)


@pytest.mark.parametrize("workload", [factors(60, 1), zipf_slides(60, 1)], ids=["factors", "zipf_slides"])
def test_windows_that_no_factor_helps_share_trees(workload: object) -> None:
    columns = (workload.range, workload.slide)  # type: ignore[attr-defined]
    best = optimize(columns, 10.0, "cascade", "two_stacks_block").cost
    assert optimize(columns, 10.0, "factor_windows", "two_stacks_block").cost < 1.3 * best


def test_the_shared_baseline_is_exact_where_one_slide_has_all_edges() -> None:
    workload = zipf_slides(2000)
    columns = np.append(workload.range, 5), np.append(workload.slide, 1)
    plan = optimize(columns, 1000.0, "shared", "panes")
    (tree,) = plan.trees
    assert tree.edge_rate == 1
    assert plan.exact
    assert plan.costs.shared == pytest.approx(plan.cost, rel=1e-12)
