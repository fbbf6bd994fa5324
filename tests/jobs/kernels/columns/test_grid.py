"""The grid against bounds of every window: the same windows, the same folds, whatever gaps there are."""

from __future__ import annotations

import numpy as np
import pytest

from jobs.kernels.algebra.operators import COUNT, MAX, MIN, SUM_FLOAT
from jobs.kernels.columns.bounds import find_windows
from jobs.kernels.columns.fold import fold
from jobs.kernels.columns.fold_bounds import count_operations, count_regular_operations
from jobs.kernels.columns.grid import LONG, Grid, lay_out_grid
from optimizer.windows.window import Window

UNIT, ZERO = 7, 3


def some_windows(rng: np.random.Generator) -> list[Window]:
    """Windows with fragments and offsets, some as short as a slice."""
    windows = [Window(5 * UNIT, UNIT, ZERO)]  # which makes every tick an edge
    for _ in range(rng.integers(1, 6)):
        slide = int(rng.choice([1, 2, 3, 4, 6, 10, 12, 60]))
        width = slide * int(rng.integers(1, 30)) + int(rng.integers(0, slide))
        windows.append(Window(width * UNIT, slide * UNIT, int(rng.integers(0, slide)) * UNIT + ZERO))
    return windows


def some_slices(rng: np.random.Generator, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and starts of groups that begin and end at different times; one of them may have no slice."""
    ticks = int(rng.integers(LONG + 500, 3 * LONG))
    starts = []
    for _ in range(groups):
        held = np.flatnonzero(rng.random(ticks) < 0.95)
        held = held[(held >= rng.integers(0, 50)) & (held < ticks - rng.integers(0, 50))]
        starts.append((held - 700) * UNIT + ZERO)
    if groups > 3:
        starts[1] = starts[1][:0]
    return np.cumsum([0, *map(len, starts)]), np.concatenate(starts)


@pytest.mark.parametrize("seed", range(12))
def test_the_same_windows_and_folds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    windows = some_windows(rng)
    offsets, starts = some_slices(rng, groups=1 + seed % 5)
    after = int(starts.min()) + 500 if seed % 2 else -(1 << 60)
    until = int(starts.max()) + int(rng.integers(-2000, 2000))
    grid = lay_out_grid(offsets, starts, windows, after, until)
    assert grid
    values = rng.integers(0, 100, len(starts)).astype(float)
    values[rng.integers(0, len(values), 20 * (seed % 3))] = np.nan
    for window in windows:
        found, ended = find_windows(offsets, starts, window, after, until), grid.ended_windows(window)
        assert np.array_equal(found.group, ended.group)
        assert np.array_equal(found.start, ended.start)
        for op in (SUM_FLOAT, MIN, MAX):
            wanted = fold(op, (values,), found.lo, found.hi).columns[0]
            assert np.array_equal(of_grid(grid, op, values, window), wanted, equal_nan=True), (window, op)
        held = of_grid(grid, COUNT, np.ones(len(starts), np.int64), window)
        assert np.array_equal(held, found.hi - found.lo)


def of_grid(grid: Grid, op: int, values: np.ndarray, window: Window) -> np.ndarray:
    answers = grid.levels(op, values).fold(grid.run(window)).reshape(-1)
    places = grid.ended_windows(window).places
    return answers if places is None else answers[places]


def test_where_a_grid_does_not_pay() -> None:
    starts, groups = np.arange(4 * LONG), np.array([0, 4 * LONG])
    every = (groups, starts, [Window(4, 1)], -1, 5 * LONG)
    assert lay_out_grid(*every)
    assert lay_out_grid(groups, starts, [Window(4, 1, rows=True)], -1, 5 * LONG) is None
    assert lay_out_grid(np.array([0, 9]), starts[:9], [Window(4, 1)], -1, 9) is None  # few slices
    assert lay_out_grid(groups, 5 * starts, [Window(4, 1)], -1, 25 * LONG) is None  # far between
    assert lay_out_grid(groups, starts, [Window(4, 1)], 3 * LONG, 4 * LONG) is None  # most windows ended before
    long_slide = Window(9 * LONG, 9 * LONG)
    assert lay_out_grid(groups, starts, [Window(4, 1), long_slide], -1, 9 * LONG) is None


def test_slices_that_are_far_between_pay_where_windows_are_many() -> None:
    starts, windows = 5 * np.arange(LONG), [Window(10 * n, 1) for n in range(1, 6)]
    assert lay_out_grid(np.array([0, LONG]), starts, windows, -1, 5 * LONG)
    # as many slices of groups that come and go: hardly any of the windows hold one of theirs
    assert lay_out_grid(np.arange(LONG + 1), starts, windows, -1, 5 * LONG) is None


@pytest.mark.parametrize("seed", range(50))
def test_operations_of_regular_windows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    width, count = int(rng.integers(1, 40)), int(rng.integers(0, 60))
    step = int(rng.integers(1, width + 1))
    low = np.arange(count) * step
    assert count_regular_operations(width, step, count) == count_operations(low, low + width)
