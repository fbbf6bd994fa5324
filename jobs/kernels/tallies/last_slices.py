"""Distinct counts of windows of many ranges, in one pass: the last slice of every value tells in which windows it is.

A window that ends with a slice holds just the values whose last slice so far is one of its own. So a pass over the
entries keeps that slice for every value, and by slice how many values have their last entry there; the sum of these
over a window's slices is its count. Each entry is touched once, however many ranges are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numba import njit

from jobs.kernels.arrays import Ints
from jobs.kernels.tallies.values import RankedTally

SHIFT: Final = 6  # of a slice to its block of 64, and of a block to its heap of as many
MASK: Final = (1 << SHIFT) - 1


def count_distinct(tally: RankedTally, bounds: Sequence[tuple[Ints, Ints]]) -> list[Ints]:
    """Return how many values the windows hold, for some pairs of bounds; window i of a pair is the slices [lo, hi).

    The bounds of a pair ascend. Windows that end together are summed from the shortest on, so pairs are best given from
    the shortest range to the longest.

    >>> from jobs.kernels.tallies.values import rank_entries
    >>> tally = rank_entries(np.array([0, 2, 3]), np.array([5, 9, 5]), np.ones(3, int), np.array([0, 2]))
    >>> short, long = (np.array([0, 1]), np.array([1, 2])), (np.array([0]), np.array([2]))
    >>> [counts.tolist() for counts in count_distinct(tally, [short, long])]
    [[2, 1], [2]]
    """
    begin = np.cumsum([0, *(len(lo) for lo, _ in bounds)])
    lo, hi = (np.concatenate([np.zeros(0, np.int64), *(pair[side] for pair in bounds)]) for side in (0, 1))
    slices = len(tally.offsets) - 1
    levels = [np.zeros((slices >> SHIFT * level) + 1, np.int64) for level in range(3)]
    out = np.zeros(len(lo), np.int64)
    _count(tally, np.full(len(tally.entry), -1, np.int64), levels[0], levels[1], levels[2], begin, lo, hi, out)
    return [out[low:high] for low, high in pairwise(begin.tolist())]


@njit(cache=True, nogil=True)
def _count(
    tally: RankedTally,
    last: Ints,  # slice of every rank
    by_slice: Ints,
    by_block: Ints,
    by_heap: Ints,
    begin: Ints,
    lo: Ints,
    hi: Ints,
    out: Ints,
) -> None:
    place = begin[:-1].copy()
    for s in range(by_slice.size - 1):
        low, high = tally.offsets[s], tally.offsets[s + 1]
        for e in range(low, high):
            before = last[tally.ranks[e]]
            last[tally.ranks[e]] = s
            if before >= 0:
                by_slice[before] -= 1
                by_block[before >> SHIFT] -= 1
                by_heap[before >> SHIFT >> SHIFT] -= 1
        by_slice[s] += high - low
        by_block[s >> SHIFT] += high - low
        by_heap[s >> SHIFT >> SHIFT] += high - low
        low, total = s + 1, 0  # the sum from `low` on
        for q in range(place.size):
            while place[q] < begin[q + 1] and hi[place[q]] <= s + 1:
                window, place[q] = place[q], place[q] + 1
                if hi[window] == s + 1:  # others hold no slice
                    if lo[window] > low:
                        low, total = s + 1, 0
                    total += _sum(by_slice, by_block, by_heap, lo[window], low)
                    low = lo[window]
                    out[window] = total


@njit(cache=True)
def _sum(by_slice: Ints, by_block: Ints, by_heap: Ints, low: int, high: int) -> int:
    """Return the sum over the slices [low, high), with whole blocks and heaps as far as there are any."""
    slices, low, high = _sum_ends(by_slice, low, high)
    blocks, low, high = _sum_ends(by_block, low, high)
    total = slices + blocks
    for heap in range(low, high):
        total += by_heap[heap]
    return total


@njit(cache=True)
def _sum_ends(each: Ints, low: int, high: int) -> tuple[int, int, int]:
    """Return the sum of what stands before the first whole block of [low, high) and after the last, and those blocks.

    >>> _sum_ends(np.ones(200, np.int64), 60, 130)  # blocks of 64: 60 to 63, 128 and 129; between them block 1
    (6, 1, 2)
    """
    total = 0
    while low < high and low & MASK:
        total += each[low]
        low += 1
    while high > low and high & MASK:
        high -= 1
        total += each[high]
    return total, low >> SHIFT, high >> SHIFT
