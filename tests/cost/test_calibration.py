"""Calibration on synthetic runs: exact, noisy, and too few or too alike to tell prices apart."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.cost.calibration import Calibration, Run, fit
from optimizer.errors import HeddleError

prices = st.floats(1e-9, 1e-5)


def runs(truth: Calibration, count: int, noise: float = 0.0, seed: int = 1) -> list[Run]:
    random, made = Random(seed), []
    for _ in range(count):
        partials, finals = 10 ** random.uniform(4, 8), 10 ** random.uniform(4, 8)
        batches = random.randint(1, 20)
        seconds = truth.seconds(partials, finals, batches) * random.uniform(1 - noise, 1 + noise)
        made.append(Run(partials, finals, seconds, batches))
    return made


@given(prices, prices, st.floats(0.01, 1.0))
@settings(max_examples=50, deadline=None)
def test_exact_runs_give_the_prices_back(partial: float, final: float, batch: float) -> None:
    truth = Calibration(partial, final, batch, 0.0)
    found = fit(runs(truth, 30))
    for run in runs(truth, 10, seed=2):
        assert found.seconds(run.partials, run.finals, run.batches) == pytest.approx(run.seconds, rel=1e-6)
    assert found.deviation < 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_noisy_runs_give_the_prices_nearly(seed: int) -> None:
    truth = Calibration(40e-9, 30e-9, 0.02, 0.0)
    found = fit(runs(truth, 200, noise=0.2, seed=seed))
    assert found.partial_seconds == pytest.approx(truth.partial_seconds, rel=0.1)
    assert found.final_seconds == pytest.approx(truth.final_seconds, rel=0.1)
    assert found.batch_seconds == pytest.approx(truth.batch_seconds, rel=0.1)
    assert 0.05 < found.deviation < 0.2


@pytest.mark.parametrize("seed", range(5))
def test_noisy_runs_that_are_mostly_fixed_cost_still_predict(seed: int) -> None:
    """Finals are a small part of such runs: their price is not known well, the seconds are."""
    truth = Calibration(40e-9, 7e-9, 0.4, 0.0)
    found = fit(runs(truth, 200, noise=0.2, seed=seed))
    for run in runs(truth, 50, seed=seed + 100):
        assert found.seconds(run.partials, run.finals, run.batches) == pytest.approx(run.seconds, rel=0.15)


def test_no_price_is_negative() -> None:
    truth = Calibration(50e-9, 0.0, 0.0, 0.0)
    found = fit(runs(truth, 50, noise=0.3))
    assert min(found.partial_seconds, found.final_seconds, found.batch_seconds) >= 0
    assert found.partial_seconds == pytest.approx(50e-9, rel=0.15)


def test_it_is_the_nonnegative_least_squares() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        columns, seconds = random.uniform(0.1, 10, (6, 3)), random.uniform(0.5, 2, 6)
        made = [Run(*map(float, row[:2]), float(s), float(row[2])) for row, s in zip(columns, seconds, strict=True)]
        least = fit(made).deviation
        for _ in range(200):
            guess = random.exponential(0.1, 3)
            error = np.sqrt(np.mean((columns @ guess / seconds - 1) ** 2))
            assert least <= error + 1e-9


def test_one_run_prices_all_operations_alike() -> None:
    found = fit([Run(partials=3e6, finals=1e6, seconds=2.0)])
    assert found.partial_seconds == found.final_seconds == pytest.approx(0.5e-6)
    assert found.batch_seconds == 0
    assert found.seconds(3e6, 1e6) == pytest.approx(2.0)


def test_runs_that_are_all_alike_price_all_operations_alike() -> None:
    found = fit([Run(2e6, 2e6, seconds) for seconds in (1.0, 1.1, 0.9)])
    assert found.partial_seconds == found.final_seconds
    assert found.seconds(2e6, 2e6) == pytest.approx(1.0, rel=0.05)


def test_without_a_fixed_cost_all_seconds_go_to_operations() -> None:
    truth = Calibration(40e-9, 7e-9, 0.0, 0.0)
    found = fit(runs(truth, 30), fixed_cost=False)
    assert found.batch_seconds == 0
    assert found.partial_seconds == pytest.approx(truth.partial_seconds)


def test_runs_without_finals_say_nothing_about_them() -> None:
    found = fit([Run(1e6 * size, 0.0, 0.5 + size, 1.0) for size in (1, 2, 5, 9)])
    assert found.final_seconds == 0
    assert found.partial_seconds == pytest.approx(1e-6)
    assert found.batch_seconds == pytest.approx(0.5)


@pytest.mark.parametrize(
    "bad",
    [
        [],
        [Run(1.0, 1.0, 0.0)],
        [Run(1.0, 1.0, math.nan)],
        [Run(0.0, 0.0, 1.0)],
        [Run(-1.0, 5.0, 1.0)],
        [Run(math.inf, 5.0, 1.0)],
    ],
    ids=str,
)
def test_useless_runs_are_refused_in_one_line(bad: list[Run]) -> None:
    with pytest.raises(HeddleError) as caught:
        fit(bad)
    assert "\n" not in str(caught.value)
