"""A level: the slices of a coarser tree as runs of a finer tree's slices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from jobs.kernels.arrays import Ints
from jobs.kernels.slices.edges import edges_between
from optimizer.windows.edges import Edges


class LevelBounds(NamedTuple):
    """Slice i of the level starts at start[i] and is made of the finer slices lo[i]..hi[i]; group g owns the slices
    offsets[g]..offsets[g + 1]."""

    offsets: Ints
    start: Ints
    lo: Ints
    hi: Ints


def level_bounds(edges: Edges, offsets: Ints, start: Ints) -> LevelBounds:
    """Find the runs of finer slices that fall between two edges of the coarser tree; the coarser edges are among the
    finer ones, and no run crosses from one group into the next.

    >>> bounds = level_bounds(((10, 0),), np.array([0, 4, 6]), np.array([0, 5, 10, 25, 5, 10]))
    >>> bounds.start.tolist(), bounds.lo.tolist(), bounds.hi.tolist(), bounds.offsets.tolist()
    ([0, 10, 20, 0, 10], [0, 2, 3, 4, 5], [2, 3, 4, 5, 6], [0, 3, 5])
    """
    if not len(start):
        none = np.empty(0, np.int64)
        return LevelBounds(np.zeros(len(offsets), np.int64), none, none, none)
    laid_out = edges_between(edges, int(start.min()), int(start.max()))
    low, first = np.empty(len(start), np.int64), np.empty(len(start), np.int64)
    ends = np.zeros(len(offsets), np.int64)
    count = _level_bounds(laid_out, offsets, start, low, first, ends)
    low = low[:count].copy()
    return LevelBounds(ends, first[:count].copy(), low, np.append(low[1:], len(start)))


@njit(cache=True, nogil=True)
def _level_bounds(edges: Ints, offsets: Ints, start: Ints, low: Ints, first: Ints, ends: Ints) -> int:
    """Write where every run begins and the edge it begins with; the number of runs."""
    count = 0
    last = edges.size - 1
    for g in range(offsets.size - 1):
        begin, end = offsets[g], offsets[g + 1]
        if begin < end:
            current = np.searchsorted(edges, start[begin], side="right") - 1
            low[count], first[count] = begin, edges[current]
            count += 1
            upper = edges[current + 1] if current < last else np.iinfo(np.int64).max
            for i in range(begin + 1, end):
                if start[i] >= upper:
                    current += 1
                    if current < last and start[i] >= edges[current + 1]:  # slices without events are skipped
                        current = np.searchsorted(edges, start[i], side="right") - 1
                    upper = edges[current + 1] if current < last else np.iinfo(np.int64).max
                    low[count], first[count] = i, edges[current]
                    count += 1
        ends[g + 1] = count
    return count
