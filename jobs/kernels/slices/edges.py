"""Which slice an event falls into: the last edge of the tree at or before its time.

A level has the slices of a coarser tree as runs of a finer tree's slices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from jobs.kernels.arrays import Bools, Ints, read_only
from optimizer.windows.edges import Edges

DENSE_EDGES = 4  # edges are laid out one by one while there are at most this many per event


def edges_between(edges: Edges, first: int, last: int) -> Ints:
    """Return every edge from the last one at or before `first` up to `last`, in order.

    >>> edges_between(((4, 0), (6, 1)), 5, 13).tolist()
    [4, 7, 8, 12, 13]
    """
    start = max(residue + (first - residue) // period * period for period, residue in edges)
    runs = [np.arange(_at_or_after(start, period, residue), last + 1, period) for period, residue in edges]
    return np.unique(np.concatenate(runs)) if len(runs) > 1 else runs[0]


def count_between(edges: Edges, first: int, last: int) -> int:
    """Return an upper bound of the edges in the span, without laying them out.

    >>> count_between(((4, 0), (6, 1)), 5, 13)
    7
    """
    return sum((last - first) // period + 2 for period, _ in edges)


def slice_starts(edges: Edges, times: Ints) -> Ints:
    """Return the start of the slice that holds each time.

    >>> slice_starts(((4, 0), (6, 1)), np.array([5, 7, 11])).tolist()
    [4, 7, 8]
    """
    if not len(times):
        return times
    first, last = int(times.min()), int(times.max())
    if count_between(edges, first, last) <= DENSE_EDGES * len(times) + 1024:
        laid_out = edges_between(edges, first, last)
        return laid_out[slice_numbers(laid_out, times)]
    starts = np.full(len(times), np.iinfo(np.int64).min)
    for period, residue in edges:
        np.maximum(starts, times - (times - residue) % period, out=starts)
    return starts


def _at_or_after(time: int, period: int, residue: int) -> int:
    return time + (residue - time) % period


@njit(cache=True, nogil=True, forceinline=True)
def _advance_edge(edges: Ints, time: int, current: int) -> int:
    """Find the index of the last edge at or before a time; quick when it is the current one, or the next."""
    last = edges.size - 1
    if time >= edges[current] and (current == last or time < edges[current + 1]):
        return current
    if current < last and time >= edges[current + 1] and (current + 1 == last or time < edges[current + 2]):
        return current + 1
    return int(np.searchsorted(edges, time, side="right")) - 1


def slice_numbers(edges: Ints, times: Ints) -> Ints:
    """Return the index of the last edge at or before each time.

    >>> slice_numbers(np.array([0, 4, 8]), np.array([5, 8, 1])).tolist()
    [1, 2, 0]
    """
    return _slice_numbers(read_only(edges), read_only(times))


@njit(cache=True, nogil=True)
def _slice_numbers(edges: Ints, times: Ints) -> Ints:
    numbers = np.empty(times.size, np.int64)
    current = 0
    for i in range(times.size):
        current = _advance_edge(edges, times[i], current)
        numbers[i] = current
    return numbers


def cell_numbers(edges: Ints, times: Ints, codes: Ints, used: Bools) -> Ints:
    """Return the cell of each event, key by key and in slice order, unused ones counted; mark those that are used.

    >>> used = np.zeros(6, np.bool_)
    >>> cell_numbers(np.array([0, 4, 8]), np.array([5, 8, 1]), np.array([0, 1, 0]), used).tolist(), used.tolist()
    ([1, 5, 0], [True, True, False, False, False, True])
    """
    return _cell_numbers(read_only(edges), read_only(times), read_only(codes), used)


@njit(cache=True, nogil=True)
def _cell_numbers(edges: Ints, times: Ints, codes: Ints, used: Bools) -> Ints:
    cell = np.empty(times.size, np.int64)
    current = 0
    for i in range(times.size):
        current = _advance_edge(edges, times[i], current)
        number = codes[i] * edges.size + current
        cell[i] = number
        used[number] = True
    return cell


@njit(cache=True, nogil=True)
def renumber(cell: Ints, number: Ints) -> None:
    """Replace every cell by its number, in place.

    >>> cell = np.array([1, 5, 0])
    >>> renumber(cell, np.array([0, 1, -1, -1, -1, 2]))
    >>> cell.tolist()
    [1, 2, 0]
    """
    for i in range(cell.size):
        cell[i] = number[cell[i]]


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
    count = _level_bounds(read_only(laid_out), read_only(offsets), read_only(start), low, first, ends)
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
