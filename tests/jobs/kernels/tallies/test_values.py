"""Value counts of sliding windows against plain lists: few values and many, gaps, windows without a value."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jobs.kernels.arrays import Ints
from jobs.kernels.tallies.last_slices import count_distinct
from jobs.kernels.tallies.values import Place, find_modes, find_places, rank_entries, sum_distinct
from tests.oracle.naive_aggregates import modes, percentile, value_at

SHARES = (0.0, 0.3, 0.5, 1.0)


class World:
    """Slices of some groups with random values, and windows over them whose bounds ascend."""

    def __init__(self, seed: int, different: int) -> None:
        pick = np.random.default_rng(seed)
        slices = int(pick.integers(5, 40))
        self.groups: Ints = np.sort(np.concatenate([[0], pick.integers(0, slices + 1, 2), [slices]]))
        values = [np.unique(pick.integers(0, different, pick.integers(0, 40))) for _ in range(slices)]
        offsets = np.concatenate([[0], np.cumsum([len(part) for part in values])])
        codes = np.concatenate(values).astype(np.int64)
        numbers = pick.integers(1, 5, len(codes))
        self.tally = rank_entries(offsets, codes, numbers, self.groups)
        self.values = codes[self.tally.entry].astype(np.float64)
        bounds = [self._windows(pick, group) for group in range(3)]
        self.group, self.lo, self.hi = (np.concatenate([part[place] for part in bounds]) for place in range(3))
        spans = [(offsets[low], offsets[high]) for low, high in zip(self.lo, self.hi, strict=True)]
        self.held = [np.repeat(codes[low:high], numbers[low:high]).tolist() for low, high in spans]

    def _windows(self, pick: np.random.Generator, group: int) -> tuple[Ints, Ints, Ints]:
        low, high = self.groups[group : group + 2]
        count = int(pick.integers(0, 8))
        first, last = (np.sort(pick.integers(low, high + 1, count)) for _ in range(2))
        return np.full(count, group), first, np.maximum(first, last)


@pytest.fixture(params=[(seed, different) for seed in range(4) for different in (2, 50, 400)], ids=str)
def world(request: pytest.FixtureRequest) -> World:
    return World(*request.param)


def test_distinct_values_are_counted_and_summed(world: World) -> None:
    everything = np.arange(len(world.lo))
    parts = [everything, everything[::2], everything[:0], everything[1::3]]  # as of queries with ranges of their own
    counts = count_distinct(world.tally, [(world.lo[part], world.hi[part]) for part in parts])
    right = np.array([len(set(values)) for values in world.held], np.int64)
    assert [count.tolist() for count in counts] == [right[part].tolist() for part in parts]
    sums = sum_distinct(world.tally, world.values[:, np.newaxis], world.group, world.lo, world.hi)
    assert sums[:, 0].tolist() == [sum(set(values)) for values in world.held]


def test_the_lowest_of_the_most_frequent_values(world: World) -> None:
    ranks = find_modes(world.tally, world.group, world.lo, world.hi).tolist()
    answers = [None if rank < 0 else world.values[rank] for rank in ranks]
    assert answers == [min(modes(values), default=None, key=lambda mode: mode or 0) for values in world.held]


@pytest.mark.parametrize("is_descending", [False, True])
@pytest.mark.parametrize("share", SHARES)
def test_places(world: World, share: float, is_descending: bool) -> None:
    bounds = (world.group, world.lo, world.hi)
    sizes, ranks = find_places(world.tally, *bounds, Place(share, True, is_descending))
    assert sizes.tolist() == [len(values) for values in world.held]
    whole = [None if below < 0 else world.values[below] for below, _ in ranks]
    assert whole == [value_at(values, share, is_descending) for values in world.held]
    _, ranks = find_places(world.tally, *bounds, Place(share, False, is_descending))
    for (below, above), values in zip(world.values[ranks], world.held, strict=True):
        place = (len(values) - 1) * share
        between = below + (above - below) * (place - math.floor(place))
        assert not values or percentile(values, share, is_descending) == (below if below == above else between)


def test_windows_of_many_slices() -> None:
    pick = np.random.default_rng(5)
    sizes = pick.integers(0, 3, 9_000)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    codes = np.concatenate([np.sort(pick.choice(500, size, replace=False)) for size in sizes]).astype(np.int64)
    tally = rank_entries(offsets, codes, np.ones_like(codes), np.array([0, 4_000, 9_000]))
    hi = np.concatenate([np.arange(17, 4_001, 97), np.arange(4_001, 9_001, 211)])
    for length in (1, 63, 64, 65, 4_100):
        lo = np.maximum(hi - length, np.where(hi <= 4_000, 0, 4_000))
        (counts,) = count_distinct(tally, [(lo, hi)])
        expected = [len(set(codes[offsets[low] : offsets[high]].tolist())) for low, high in zip(lo, hi, strict=True)]
        assert counts.tolist() == expected
