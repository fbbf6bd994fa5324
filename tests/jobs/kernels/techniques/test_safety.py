"""No spike, NaN or infinity touches a window that no longer holds it: ten million events, every technique that sums."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from jobs.kernels import KERNELS
from jobs.kernels.algebra.operators import SUM_FLOAT, SUM_INT, lift, lower
from jobs.kernels.arrays import Rows
from jobs.kernels.techniques.stream import advance, make
from optimizer.algebra.techniques import allowed
from optimizer.windows.window import Window
from tests.oracle import naive

SUMMING = [technique for technique in KERNELS if allowed(technique, "sum")]
EVENTS, BATCH, SLICE = 10_000_000, 500_000, 5
WINDOW = Window(range=1000, slide=100)
SPIKES = [1e16, -1e16, 1e300, -1e300, -1e307, 5e-324, float("nan"), float("inf"), float("-inf")]


def noise(batch: int) -> Rows:
    """Values of 1e-5 to 1e5, with a spike every few thousand events."""
    rng = np.random.default_rng(batch)
    values = rng.normal(size=BATCH) * 10.0 ** rng.integers(-5, 6, BATCH)
    places = rng.integers(0, BATCH, BATCH // 4000)
    values[places] = rng.choice(SPIKES, len(places))
    return values


@pytest.fixture(scope="module")
def batches() -> list[Rows]:
    return [noise(batch) for batch in range(EVENTS // BATCH)]


@pytest.fixture(scope="module")
def windows(batches: list[Rows]) -> tuple[Rows, Rows]:
    """The sum of every full window over all events, each added up by itself, and its sum of absolute values."""
    tail = np.empty(0)
    sums, sizes = [], []
    with np.errstate(all="ignore"):
        for batch in batches:
            values = np.concatenate([tail, batch])
            views = sliding_window_view(values, WINDOW.range)[:: WINDOW.slide]
            sums.append(views.sum(axis=1))
            sizes.append(np.abs(views).sum(axis=1))
            tail = values[len(views) * WINDOW.slide :]
    return np.concatenate(sums), np.concatenate(sizes)


@pytest.mark.parametrize("technique", SUMMING)
def test_ten_million_events(technique: str, batches: list[Rows], windows: tuple[Rows, Rows]) -> None:
    exact, size = windows
    state, found = make(technique, [WINDOW], "sum"), []
    for batch, values in enumerate(batches):
        starts = np.arange(batch * BATCH, (batch + 1) * BATCH, SLICE)
        with np.errstate(invalid="ignore"):
            rows = lift(SUM_FLOAT, values.reshape(-1, SLICE).sum(axis=1))
        state, answers = advance(state, starts, rows, until=(batch + 1) * BATCH)
        found.append(lower(SUM_FLOAT, answers.rows[answers.start >= 0])[0])
    total = np.concatenate(found)
    wild = ~np.isfinite(exact)
    assert len(total) == len(exact)
    assert np.array_equal(total[wild], exact[wild], equal_nan=True)
    assert 0.05 < wild.mean() < 0.5
    assert np.all(np.abs(total[~wild] - exact[~wild]) <= 1e-9 * size[~wild])


@pytest.mark.parametrize("technique", SUMMING)
@pytest.mark.parametrize("spike", [1e16, 1e300, -1e307])
def test_digits_come_back_when_a_spike_leaves(technique: str, spike: float) -> None:
    values = np.array([spike, *[1e-5] * 40, spike, -spike, 0.1, 0.2, *[3.0] * 40])
    state = make(technique, [Window(8, 1)], "sum")
    _, answers = advance(state, np.arange(len(values)), lift(SUM_FLOAT, values), until=len(values))
    oracle = naive.answers([{"ts": t, "x": float(x)} for t, x in enumerate(values)], "sum", Window(8, 1))
    for start, value in zip(answers.start.tolist(), lower(SUM_FLOAT, answers.rows)[0].tolist(), strict=True):
        size = np.abs(values[max(start, 0) : start + 8]).sum()
        assert abs(value - oracle[(), start]) <= 1e-15 * size


@pytest.mark.parametrize("technique", SUMMING)
def test_overflow_is_told_for_the_windows_that_overflow_and_no_others(technique: str) -> None:
    big = 2**62
    values = np.array([big, big, -big, -big, -big, 5, 2**63 - 1, 0, 1, -(2**63), -1, 3, 3, 3], np.int64)
    state = make(technique, [Window(3, 1)], "sum", "int64")
    _, answers = advance(state, np.arange(len(values)), lift(SUM_INT, values), until=len(values))
    totals, _, overflow = lower(SUM_INT, answers.rows)
    for start, total, over in zip(answers.start.tolist(), totals.tolist(), overflow.tolist(), strict=True):
        true = sum(values[max(start, 0) : start + 3].tolist())
        assert over == (not -(2**63) <= true < 2**63)
        assert over or total == true
    assert 0 < overflow.sum() < len(overflow)
