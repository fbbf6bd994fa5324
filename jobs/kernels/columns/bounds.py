"""Which windows end, and which slices each of them holds, for many groups in one call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from jobs.kernels.arrays import Ints, read_only
from optimizer.windows.window import Window

Clock = tuple[int, int, int, int, int]  # range, slide, offset, first and last window
INT64 = np.iinfo(np.int64)
ROOMY = 4  # room is made for empty windows while there are at most this many windows to a slice


class WindowBounds(NamedTuple):
    """The windows that end, group by group and in order: window i holds the slices [lo[i], hi[i])."""

    group: Ints
    start: Ints
    lo: Ints
    hi: Ints


def find_windows(group_offsets: Ints, slice_start: Ints, window: Window, after: int, until: int) -> WindowBounds:
    """Find the windows that end in (after, until] and hold a slice; group g owns slices group_offsets[g]..[g + 1].

    Slice starts ascend within a group and may have gaps; both lo and hi ascend within a group, too.

    >>> windows = find_windows(np.array([0, 3]), np.array([0, 2, 9]), Window(4, 2), after=0, until=12)
    >>> windows.start.tolist(), windows.lo.tolist(), windows.hi.tolist()  # those from 4 on hold no slice
    ([-2, 0, 2, 6, 8], [0, 0, 1, 2, 2], [1, 2, 2, 3, 3])
    """
    first = (after - window.offset - window.range) // window.slide + 1
    last = (until - window.offset - window.range) // window.slide
    group_offsets, slice_start = read_only(group_offsets), read_only(slice_start)
    clock = (window.range, window.slide, window.offset, _clip(first), _clip(last))
    most = _count_at_most(group_offsets, slice_start, clock)
    if most > ROOMY * len(slice_start) + 1024:  # gaps may hold any number of empty windows: count the others first
        none = np.empty(0, np.int64)
        most = _walk(group_offsets, slice_start, clock, none, none, none, none)
    windows = WindowBounds(*(np.empty(int(most), np.int64) for _ in WindowBounds._fields))
    count = _walk(group_offsets, slice_start, clock, *windows)
    return WindowBounds(*(column[:count] for column in windows))


def _clip(number: int) -> int:
    return min(max(number, int(INT64.min)), int(INT64.max))


@njit(cache=True, nogil=True)
def _first_at_or_after(starts: Ints, time: int, low: int, high: int) -> int:
    while low < high:
        middle = (low + high) // 2
        if starts[middle] < time:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _count_at_most(offsets: Ints, starts: Ints, clock: Clock) -> float:
    """Count the windows, empty ones included; a float, since there may be more than an int64 holds."""
    range_, slide, offset, first, last = clock
    most = 0.0
    for g in range(offsets.size - 1):
        if offsets[g] < offsets[g + 1]:
            k = max(first, (starts[offsets[g]] - offset - range_) // slide + 1)
            final = min(last, (starts[offsets[g + 1] - 1] - offset) // slide)
            most += max(0.0, float(final) - float(k) + 1.0)
    return most


@njit(cache=True, nogil=True)
def _advance_slice(starts: Ints, time: int, low: int, end: int, step: int) -> int:
    """Find the first slice from low on that starts at or after a time; where slices are regular, a step ahead."""
    ahead = low + step
    if step > 0 and ahead <= end and starts[ahead - 1] < time and (ahead == end or starts[ahead] >= time):
        return ahead
    while low < end and starts[low] < time:
        low += 1
    return low


@njit(cache=True, nogil=True)
def _walk(offsets: Ints, starts: Ints, clock: Clock, group: Ints, start: Ints, lo: Ints, hi: Ints) -> int:
    """Count the windows; write them, too, when the arrays have room. Empty windows are jumped over, never visited."""
    range_, slide, offset, first, last = clock
    fill = group.size > 0
    count = 0
    for g in range(offsets.size - 1):
        low, end = offsets[g], offsets[g + 1]
        if low == end:
            continue
        k = max(first, (starts[low] - offset - range_) // slide + 1)
        final = min(last, (starts[end - 1] - offset) // slide)
        if k > final:
            continue
        begin = k * slide + offset
        low = _first_at_or_after(starts, begin, low, end)
        high = _first_at_or_after(starts, begin + range_, low, end)
        low_step = high_step = 0
        while k <= final:
            low_before, high_before = low, high
            low = _advance_slice(starts, begin, low, end, low_step)
            low_step = low - low_before
            if starts[low] >= begin + range_:
                k = (starts[low] - offset - range_) // slide + 1
                begin = k * slide + offset
                continue
            high = _advance_slice(starts, begin + range_, high, end, high_step)
            high_step = high - high_before
            if fill:
                group[count], start[count], lo[count], hi[count] = g, begin, low, high
            count += 1
            k += 1
            begin += slide
    return count
