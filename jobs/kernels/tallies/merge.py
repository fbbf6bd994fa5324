"""Entries of cells become tallies: sorted, and one for equal codes."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit

from jobs.kernels.arrays import Column, Ints, read_only

FEW: Final = 24  # entries that are sorted by insertion


class Merged(NamedTuple):
    """Cell c owns the entries offsets[c]..offsets[c + 1]; each names the first that it was made from."""

    offsets: Ints
    entry: Ints
    numbers: Ints


def order_codes(numbers: Column) -> Ints:
    """Return whole numbers that are in Spark's order and equal just where the numbers are: NaN is above, -0.0 is 0.0.

    >>> codes = order_codes(np.array([np.nan, -1.5, 0.0, -0.0, np.inf, 1.5]))
    >>> np.argsort(codes, kind="stable").tolist(), bool(codes[2] == codes[3])
    ([1, 2, 3, 5, 4, 0], True)
    """
    if numbers.dtype != np.float64:
        return np.ascontiguousarray(numbers, np.int64)
    plain = numbers + 0.0
    bits = np.where(plain != plain, np.nan, plain).view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))


def merge_entries(cells: int, cell: Ints, codes: Ints, numbers: Ints, largest: bool) -> Merged:
    """Merge the entries of every cell that have the same code: their numbers are added, or the largest is kept.

    >>> merged = merge_entries(2, np.array([1, 0, 1, 1]), np.array([7, 5, 3, 7]), np.array([1, 1, 1, 4]), largest=False)
    >>> merged.offsets.tolist(), merged.entry.tolist(), merged.numbers.tolist()
    ([0, 1, 3], [1, 2, 0], [1, 1, 5])
    """
    entry, merged = np.empty(len(cell), np.int64), np.empty(len(cell), np.int64)
    offsets = np.zeros(cells + 1, np.int64)
    size = _merge(read_only(cell), read_only(codes), read_only(numbers), largest, offsets, entry, merged)
    return Merged(offsets, entry[:size], merged[:size])


@njit(cache=True, nogil=True)
def _sort(codes: Ints, order: Ints, low: int, high: int) -> None:
    if high - low > FEW:
        part = order[low:high].copy()
        places = np.argsort(codes[part], kind="mergesort")
        for i in range(places.size):
            order[low + i] = part[places[i]]
        return
    for i in range(low + 1, high):
        moved, j = order[i], i
        while j > low and codes[order[j - 1]] > codes[moved]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = moved


@njit(cache=True, nogil=True)
def _merge(cell: Ints, codes: Ints, numbers: Ints, largest: bool, offsets: Ints, entry: Ints, merged: Ints) -> int:
    cells = offsets.size - 1
    begin = np.zeros(cells + 1, np.int64)
    for i in range(cell.size):
        begin[cell[i] + 1] += 1
    for c in range(cells):
        begin[c + 1] += begin[c]
    order, place = np.empty(cell.size, np.int64), begin.copy()
    for i in range(cell.size):
        order[place[cell[i]]] = i
        place[cell[i]] += 1
    size = 0
    for c in range(cells):
        _sort(codes, order, begin[c], begin[c + 1])
        for k in range(begin[c], begin[c + 1]):
            i = order[k]
            if k > begin[c] and codes[entry[size - 1]] == codes[i]:
                merged[size - 1] = max(merged[size - 1], numbers[i]) if largest else merged[size - 1] + numbers[i]
            else:
                entry[size], merged[size] = i, numbers[i]
                size += 1
        offsets[c + 1] = size
    return size
