"""Value counts of windows: how often every value stands in a window, kept while the window moves over its slices.

The values of a key are numbered in order. A window that moves on adds the slices that enter it and takes away those
that leave, so every entry of a slice is touched twice, however long the windows are. The numbers are cut into blocks of
about the square root of their number: a block knows how many events and how many values it holds, and its sum and its
most frequent value are computed anew when something in it has changed. Nothing runs on, so nothing drifts.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit

from jobs.kernels.arrays import ZERO, Bools, Column, Ints, int64_literal, read_only

LEAST_SHIFT: Final = 4  # of a rank to the number of its block: a block has at least 16 values
LIMB: Final = 32
ENTER, LEAVE = int64_literal(1), int64_literal(-1)


class RankedTally(NamedTuple):
    """Entries of slices, by the ranks of their values: group g has the ranks first[g]..first[g + 1]."""

    offsets: Ints  # slice s owns the entries offsets[s]..offsets[s + 1]
    ranks: Ints
    numbers: Ints  # how often the value stands in the slice
    first: Ints
    entry: Ints  # of every rank, an entry that has its value


class Place(NamedTuple):
    """Where a percentile stands in the order of a window's n values, counted from 0.

    It is at (n - 1) * share; where whole, at the first place up to which there are at least that share of the values.
    """

    share: float
    is_whole: bool = False
    is_descending: bool = False


class Blocks(NamedTuple):
    """What the present window holds: by rank, and by block of ranks."""

    counts: Ints  # by rank, all others are by block
    events: Ints
    values: Ints
    is_changed: Bools
    sums: Column  # two limbs of 32 bits for whole numbers, one sum for others
    modes: Ints  # the rank of the most frequent value


def rank_entries(offsets: Ints, codes: Ints, numbers: Ints, groups: Ints) -> RankedTally:
    """Number the values of every group in order. Group g owns the slices groups[g]..groups[g + 1].

    >>> ranked = rank_entries(np.array([0, 2, 3, 5]), np.array([5, 9, 7, 5, 9]), np.ones(5, int), np.array([0, 2, 3]))
    >>> ranked.ranks.tolist(), ranked.first.tolist()
    ([0, 2, 1, 3, 4], [0, 3, 5])
    """
    group = np.repeat(np.arange(len(groups) - 1), np.diff(offsets[groups]))
    order = np.lexsort((codes, group))
    ordered, of_group = codes[order], group[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (ordered[1:] != ordered[:-1]) | (of_group[1:] != of_group[:-1])
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.cumsum(is_new) - 1
    first = np.searchsorted(of_group[is_new], np.arange(len(groups)))
    columns = offsets, ranks, np.asarray(numbers, np.int64), first, order[is_new]
    return RankedTally(*map(read_only, columns))


def find_places(tally: RankedTally, group: Ints, lo: Ints, hi: Ints, place: Place) -> tuple[Ints, Ints]:
    """Return how many values every window holds, and two ranks: of the last value up to a place, the first from it on.

    A window without values has the rank -1.

    >>> tally = rank_entries(np.array([0, 2, 3]), np.array([5, 9, 7]), np.ones(3, int), np.array([0, 2]))
    >>> group, lo, hi = np.zeros(2, int), np.array([0, 0]), np.array([1, 2])
    >>> [column.tolist() for column in find_places(tally, group, lo, hi, Place(0.5))]
    [[2, 3], [[0, 2], [1, 1]]]
    """
    sizes, ranks = np.zeros(len(lo), np.int64), np.full((len(lo), 2), -1, np.int64)
    blocks, shift = _empty_blocks(tally, 0)
    _find_places(tally, blocks, shift, group, lo, hi, place, sizes, ranks)
    return sizes, ranks


def find_modes(tally: RankedTally, group: Ints, lo: Ints, hi: Ints) -> Ints:
    """Return the rank of the most frequent value of every window, of several the lowest; -1 where there is none.

    >>> tally = rank_entries(np.array([0, 2, 3]), np.array([5, 9, 9]), np.ones(3, int), np.array([0, 2]))
    >>> find_modes(tally, np.zeros(2, int), np.array([0, 0]), np.array([1, 2])).tolist()
    [0, 1]
    """
    out = np.full(len(lo), -1, np.int64)
    blocks, shift = _empty_blocks(tally, 0)
    _find_modes(tally, blocks, shift, group, lo, hi, out)
    return out


def sum_distinct(tally: RankedTally, parts: Column, group: Ints, lo: Ints, hi: Ints) -> Column:
    """Return the sums over the values of every window, each taken once; a row of `parts` is of a rank.

    A double has one part; a whole number has two, of 32 bits, so that no sum of either overflows.

    >>> tally = rank_entries(np.array([0, 2, 3]), np.array([5, 9, 9]), np.ones(3, int), np.array([0, 2]))
    >>> sum_distinct(tally, np.array([[5.0], [9.0]]), np.zeros(1, int), np.array([0]), np.array([2])).tolist()
    [[14.0]]
    """
    out = np.zeros((len(lo), parts.shape[1]), parts.dtype)
    blocks, shift = _empty_blocks(tally, parts.shape[1], parts.dtype)
    _sum_distinct(tally, blocks, shift, parts, group, lo, hi, out)
    return out


def _empty_blocks(tally: RankedTally, width: int, kind: np.dtype[np.generic] | None = None) -> tuple[Blocks, int]:
    ranks = len(tally.entry)
    widest = int(np.diff(tally.first).max(initial=1))
    shift = max(LEAST_SHIFT, int(widest).bit_length() // 2)
    size = (ranks >> shift) + 1
    columns = np.zeros(ranks, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    sums = np.zeros((size, width), kind or np.float64)
    return Blocks(*columns, np.zeros(size, np.bool_), sums, np.full(size, -1, np.int64)), shift


@njit(cache=True, nogil=True)
def _change(tally: RankedTally, blocks: Blocks, shift: int, low: int, high: int, sign: int) -> int:
    """Add the entries of some slices, or take them away; return by how many events that changes the window."""
    change = 0
    for e in range(tally.offsets[low], tally.offsets[high]):
        rank, number = tally.ranks[e], sign * tally.numbers[e]
        block = rank >> shift
        before = blocks.counts[rank]
        blocks.counts[rank] = before + number
        blocks.events[block] += number
        blocks.values[block] += int(before == 0) - int(before + number == 0)
        blocks.is_changed[block] = True
        change += number
    return change


@njit(cache=True, nogil=True)
def _rank_at(blocks: Blocks, shift: int, low: int, place: int) -> int:
    """Return the rank of the value at a place, counted from 0; all ranks of the window are at `low` or above."""
    block = low >> shift
    while place >= blocks.events[block]:
        place -= blocks.events[block]
        block += 1
    rank = block << shift
    while place >= blocks.counts[rank]:
        place -= blocks.counts[rank]
        rank += 1
    return rank


@njit(cache=True, nogil=True)
def _find_places(
    tally: RankedTally,
    blocks: Blocks,
    shift: int,
    group: Ints,
    lo: Ints,
    hi: Ints,
    place: Place,
    sizes: Ints,
    ranks: Ints,
) -> None:
    low = high = size = ZERO
    for i in range(lo.size):
        size += _change(tally, blocks, shift, low, min(lo[i], high), LEAVE)
        size += _change(tally, blocks, shift, max(lo[i], high), hi[i], ENTER)
        low, high = lo[i], hi[i]
        sizes[i] = size
        if size:
            exact = max(np.ceil(size * place.share) - 1.0, 0.0) if place.is_whole else (size - 1) * place.share
            below, above = int(np.floor(exact)), int(np.ceil(exact))
            if place.is_descending:
                below, above = size - 1 - below, size - 1 - above
            ranks[i, 0] = _rank_at(blocks, shift, tally.first[group[i]], below)
            ranks[i, 1] = ranks[i, 0]
            if above != below:
                ranks[i, 1] = _rank_at(blocks, shift, tally.first[group[i]], above)


@njit(cache=True, nogil=True)
def _find_modes(tally: RankedTally, blocks: Blocks, shift: int, group: Ints, lo: Ints, hi: Ints, out: Ints) -> None:
    low = high = ZERO
    for i in range(lo.size):
        _change(tally, blocks, shift, low, min(lo[i], high), LEAVE)
        _change(tally, blocks, shift, max(lo[i], high), hi[i], ENTER)
        low, high = lo[i], hi[i]
        most = 0
        for block in range(tally.first[group[i]] >> shift, (tally.first[group[i] + 1] - 1 >> shift) + 1):
            if not blocks.values[block]:
                continue
            if blocks.is_changed[block]:
                blocks.is_changed[block] = False
                begin = block << shift
                best = begin
                for rank in range(begin + 1, min(begin + (1 << shift), blocks.counts.size)):
                    if blocks.counts[rank] > blocks.counts[best]:
                        best = rank
                blocks.modes[block] = best
            if blocks.counts[blocks.modes[block]] > most:
                most = blocks.counts[blocks.modes[block]]
                out[i] = blocks.modes[block]


@njit(cache=True, nogil=True)
def _sum_distinct(
    tally: RankedTally, blocks: Blocks, shift: int, parts: Column, group: Ints, lo: Ints, hi: Ints, out: Column
) -> None:
    low = high = ZERO
    for i in range(lo.size):
        _change(tally, blocks, shift, low, min(lo[i], high), LEAVE)
        _change(tally, blocks, shift, max(lo[i], high), hi[i], ENTER)
        low, high = lo[i], hi[i]
        for block in range(tally.first[group[i]] >> shift, (tally.first[group[i] + 1] - 1 >> shift) + 1):
            if not blocks.values[block]:
                continue
            if blocks.is_changed[block]:
                blocks.is_changed[block] = False
                begin = block << shift
                blocks.sums[block, :] = 0
                for rank in range(begin, min(begin + (1 << shift), blocks.counts.size)):
                    if blocks.counts[rank]:
                        for part in range(parts.shape[1]):
                            blocks.sums[block, part] += parts[rank, part]
            for part in range(parts.shape[1]):
                out[i, part] += blocks.sums[block, part]
