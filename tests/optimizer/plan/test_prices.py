"""Prices per technique: given back by exact runs, never negative, and not guessed where runs cannot tell."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from optimizer.errors import HeddleError
from optimizer.plan.batches import Schedule
from optimizer.plan.counters import STEP, STEP_ANSWER, TYPICAL
from optimizer.plan.definition import Traffic
from optimizer.plan.prices import (
    Measured,
    Operations,
    Prices,
    count_operations,
    fit_prices,
    fit_steps,
    operations_of,
)
from optimizer.planning.windows import optimize
from optimizer.windows.window import Window

HANDLED = {"slice.steps": 8e-8, "answer.steps": 4e-8}
FINALS = {"final.panes": 2e-8, "final.daba": 9e-8, "final.flat_fat": 5e-8}
TRUTH = Prices({"partial": 3e-8, **FINALS, **HANDLED, "tree": 0.001, "batch": 0.02})


def runs(count: int, noise: float = 0.0) -> list[Measured]:
    random, made = Random(4), []
    for _ in range(count):
        technique = random.choice(sorted(TRUTH.techniques))
        partials, finals, *handled = (10 ** random.uniform(5, 8) for _ in range(4))
        counted = dict(zip(HANDLED, handled, strict=True))
        operations = Operations(partials, {technique: finals}, counted, random.randint(1, 40))
        batches = random.randint(1, 9)
        seconds = TRUTH.seconds(operations, batches) * random.uniform(1 - noise, 1 + noise)
        made.append(Measured(operations, seconds, batches))
    return made


def test_exact_runs_give_the_prices_back() -> None:
    found = fit_prices(runs(80))
    for run in runs(80):
        assert found.seconds(run.operations, run.batches) == pytest.approx(run.seconds, rel=1e-2)
    for name in ("partial", "final.daba", "slice.steps", "answer.steps"):
        assert found.each[name] == pytest.approx(TRUTH.each[name], rel=0.02)


def test_noisy_runs_give_no_negative_price() -> None:
    found = fit_prices(runs(60, 0.4))
    assert min(found.each.values()) >= 0
    assert 0.05 < found.error < 0.4


def test_one_run_is_explained_by_one_price() -> None:
    found = fit_prices([Measured(Operations(2e6, {"panes": 3e6}), 1.0)])
    assert found.seconds(Operations(2e6, {"panes": 3e6})) == pytest.approx(1.0, rel=1e-3)
    assert found.each["partial"] == pytest.approx(found.each["final.panes"], rel=0.01)


def test_a_technique_never_seen_has_no_price() -> None:
    found = fit_prices(runs(10))
    assert not found.knows(Operations(1.0, {"b_int": 1.0}))
    assert found.knows(Operations(1.0, {"daba": 1.0}))


def test_runs_that_tell_nothing_are_refused() -> None:
    for bad in ([], [Measured(Operations(1.0), 0.0)], [Measured(Operations(0.0), 1.0)]):
        with pytest.raises(HeddleError):
            fit_prices(bad)


@pytest.mark.parametrize("strategy", ["no_share", "weave_share", "tri_weave", "cascade"])
def test_the_operations_of_a_plan_add_up_to_its_cost(strategy: str) -> None:
    windows = [Window(16, 4), Window(10, 5), Window(8, 4), Window(30, 6)]
    plan = optimize(windows, 1.2, strategy, "flat_fit")
    found = operations_of(plan)
    assert found.total == pytest.approx(plan.cost)
    assert found.partials > 0
    assert set(found.finals) == {"flat_fit"}
    run = operations_of(plan, Schedule(1e6))  # one batch, long enough for its beginning not to count
    assert run.handled[f"{STEP_ANSWER}flat_fit"] == pytest.approx(1 / 4 + 1 / 5 + 1 / 4 + 1 / 6, rel=1e-3)
    edges = sum(float(tree.edge_rate) for tree in plan.trees if tree.queries)
    assert 0.9 * edges < run.handled[f"{STEP}flat_fit"] < edges
    assert (
        found.handled[f"{STEP}flat_fit"] > run.handled[f"{STEP}flat_fit"]
    )  # small batches take the slices of long windows again


def test_what_a_grid_does_not_do_is_not_paid_for() -> None:
    windows = [Window(2000, 20), Window(900, 10), Window(1200, 40)]
    run = operations_of(optimize(windows, 5.0, "shared", "two_stacks_block"), Schedule(1e6))
    assert run.handled["window.dense"] > 0  # everything is on a grid, which joins no slices
    assert run.finals["two_stacks_block"] > 0  # as the papers count
    nothing_else = dict.fromkeys(run.handled, 0.0)
    assert Prices({**nothing_else, "final.two_stacks_block": 1.0}).seconds(run) == 0


def test_steps_are_priced_as_on_a_machine_as_fast_as_the_one_that_ran() -> None:
    """What no run tells keeps a typical price, by how much faster the machine is than a typical one."""
    made = []
    for number in range(1, 20):
        counts = {"event": 1e6 * number, "slice": 3e5, "slice.made": 2e5 * (number % 3), "window.bound": 1.0}
        fed = sum(TYPICAL[name] / 4 * counts[name] for name in ("event", "slice", "slice.made"))
        found = TYPICAL["batch"] / 4  # beside which a window takes nothing
        made.append(Measured(Operations(1.0, {}, counts), fed + found, 1.0, {"feed": fed, "finals": found}))
    assert fit_steps(made).each["window.bound"] == pytest.approx(TYPICAL["window.bound"] / 4, rel=0.5)


def test_windows_that_seldom_end_are_counted_by_how_often_they_do() -> None:
    """Few batches of an endless stream are looked at, and in these none of them may end."""
    windows = [Window(5_000_000, 90_000), Window(4_000_000, 100_000)]
    run = operations_of(optimize(windows, 10.0, "shared", "two_stacks_block"))
    assert run.handled["query"] == pytest.approx(1 / 90_000 + 1 / 100_000)


def test_windows_of_keys_that_miss_slices_take_longer() -> None:
    """They do not follow each other evenly, as those of keys that have an event in every slice do."""
    prices = Prices({"window.ragged": 1.0, "window.folded.ragged": 1.0})
    plan = optimize([Window(2000, 20), Window(1200, 40)], 5.0, "shared", "two_stacks_block")
    (tree,) = plan.trees
    tree = replace(tree, group_by=("machine",))
    often, seldom = (
        prices.seconds(count_operations([tree], Traffic(rate, keys=200.0), Schedule(1e5))) for rate in (1000.0, 1.0)
    )
    assert seldom > 10 * often
