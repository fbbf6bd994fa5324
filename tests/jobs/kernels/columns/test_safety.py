"""No spike, NaN or infinity touches a window that no longer holds it, whatever the length of the stream."""

from __future__ import annotations

import numpy as np
import pytest

from jobs.kernels import sliding
from optimizer.windows.window import Window

EVENTS = 10_000_000
WINDOWS = [Window(16, 1), Window(100, 1), Window(1_000, 1), Window(65_536, 1), Window(5_003, 50)]


@pytest.fixture(scope="module")
def stream() -> np.ndarray:
    values = np.random.default_rng(7).random(EVENTS)
    for at, spike in {1_000: 1e16, 500_000: 1e300, 500_001: -1e300, 3_000_000: np.nan, 6_000_000: np.inf}.items():
        values[at] = spike
    return values


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_sums_are_within_a_billionth_of_the_sum_of_absolute_values(stream: np.ndarray, window: Window) -> None:
    (got,) = sliding(stream, window, "sum")
    draw = np.random.default_rng(window.range)
    near = [at - window.range + shift for at in (1_000, 500_000, 3_000_000, 6_000_000) for shift in (-1, 0, 1, 2)]
    near += [at + shift for at in (1_000, 500_001, 3_000_000, 6_000_000) for shift in (-1, 0, 1)]
    for row in {*draw.integers(0, len(got), 100), *(max(0, at) // window.slide for at in near), len(got) - 1}:
        held = stream[row * window.slide : row * window.slide + window.range]
        if np.isfinite(held).all():
            assert abs(got[row] - held.sum()) <= 1e-9 * np.abs(held).sum()
        else:
            assert np.array_equal(got[row], held.sum(), equal_nan=True)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("aggregate", ["sum", "max"])
def test_only_windows_that_hold_one_are_not_finite(stream: np.ndarray, window: Window, aggregate: str) -> None:
    (got,) = sliding(stream, window, aggregate)
    starts = np.arange(0, EVENTS - window.range + 1, window.slide)
    bad = np.zeros(len(got), np.bool_)
    for at in (3_000_000, 6_000_000):
        bad |= (starts <= at) & (at < starts + window.range)
    assert np.array_equal(np.isfinite(got), ~bad)


def test_the_variance_of_a_large_mean_keeps_its_digits() -> None:
    noise = np.random.default_rng(8).normal(size=50_000)
    (got,) = sliding(1e9 + noise, Window(1_000, 1_000), "var_samp")
    exact = [((1e9 + noise[i : i + 1_000]) - 1e9).var(ddof=1) for i in range(0, 50_000, 1_000)]
    assert np.allclose(got, exact, rtol=1e-9)
