"""Levels: at which lengths a tree retains what its windows hold, for how long, and which level a window is read from.

Level 0 are the slices. A level above holds closed chunks: all slices between two of its edges, folded into one. A
window is a few chunks and, at both of its ends, what is finer. Edges of a coarser level are edges of every finer one,
so that windows which start at edges of a level need nothing finer but at their ends, which are recent. So slices are
kept no longer than windows need them that start between the edges of all chunks.

The cover of the windows that end says from which level each stretch of time is read. Nothing that is read has a start
or an end of such a window inside, so that every window is whole slices and chunks, whatever their lengths. Starts of
windows lie behind the watermark by their range, ends are recent; between them, where most of the time is, the
coarsest chunks do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from optimizer.windows.edges import Edges, Progression
from optimizer.windows.window import IntArray, Window

BASE: Final = 16  # chunks of a level in one of the next, where no slide says otherwise
FEW: Final = 128  # slices in the longest window, up to which there are no chunks
MOST_CHAINS: Final = 16  # that are compared
WHOLE: Final = 4  # chunks of the coarsest level that the longest window holds at least
Span = tuple[int, int]  # from the first time on, up to the second without it


@dataclass(frozen=True)
class Level:
    """The edges of slices or chunks, and how long they are kept behind the watermark."""

    edges: Edges
    reach: int

    def floor(self, time: int) -> int:
        """Return the last edge of a level of chunks at or before a time.

        >>> Level(((10, 3),), 100).floor(22)
        13
        """
        period, residue = self.edges[0]
        return time - (time - residue) % period

    def since(self, watermark: int) -> int:
        """Return the first start that windows need which end after the watermark."""
        return watermark - self.reach + 1


def retained_levels(edges: Edges, windows: Sequence[Window]) -> tuple[Level, ...]:
    """Choose the levels of a tree with these edges for the windows that are answered from it.

    Windows of 10 by 1 and of 1,000 by 10: slices of 1 are kept for 20, chunks of 10 and of 160 for the long windows.

    >>> for level in retained_levels(((1, 0),), [Window(10, 1), Window(1000, 10)]):
    ...     level.edges, level.reach
    (((1, 0),), 20)
    (((10, 0),), 1160)
    (((160, 0),), 1000)
    """
    longest = max((window.range for window in windows), default=0)
    rate = sum(1 / period for period, _ in edges)
    if longest * rate < FEW or any(window.rows for window in windows):
        return (Level(edges, longest),)
    ranges: dict[Progression, int] = {}  # the longest, by where windows start
    for window in windows:
        start = window.slide, window.offset % window.slide
        ranges[start] = max(window.range, ranges.get(start, 0))
    chains = [_fill(chain, rate, longest) for chain in _chains(sorted(ranges))]
    candidates = [_with_reaches(edges, chain, ranges) for chain in chains]
    return min(candidates, key=lambda levels: (_retained(levels), len(levels)))


def level_of(levels: Sequence[Level], window: Window) -> int:
    """Return the number of the coarsest level that has an edge wherever the window starts.

    >>> level_of(retained_levels(((1, 0),), [Window(10, 1), Window(1000, 10)]), Window(1000, 10))
    1
    """
    return _level_of(levels, (window.slide, window.offset % window.slide))


def _level_of(levels: Sequence[Level], start: Progression) -> int:
    return max((number for number, level in enumerate(levels) if number and _holds(level.edges[0], start)), default=0)


def _holds(coarse: Progression, other: Progression) -> bool:
    """Say whether every edge of the other progression is one of the first."""
    return other[0] % coarse[0] == 0 and (other[1] - coarse[1]) % coarse[0] == 0


def _chains(starts: Sequence[Progression]) -> list[list[Progression]]:
    """Return, from each of the smallest slides on, larger ones of which each holds edges of the one before alone."""
    chains = []
    for number, first in enumerate(starts[:MOST_CHAINS]):
        chain = [first]
        for start in starts[number + 1 :]:
            if start[0] > chain[-1][0] and _holds(chain[-1], start):
                chain.append(start)
        chains.append(chain)
    return chains


def _fill(chain: Sequence[Progression], rate: float, longest: int) -> list[Progression]:
    """Return the edges of chunks: the slides of a chain, and more where two of them are far apart."""
    filled = [chain[0]]
    for period, residue in chain[1:]:
        while (ratio := period // filled[-1][0]) > BASE:
            step = max(step for step in range(1, BASE + 1) if ratio % step == 0)
            if step == 1:
                break
            filled.append((filled[-1][0] * step, residue % (filled[-1][0] * step)))
        filled.append((period, residue))
    while filled[-1][0] * BASE * WHOLE <= longest:
        filled.append((filled[-1][0] * BASE, filled[-1][1]))
    filled = [start for start in filled if start[0] * rate >= 2 and start[0] < longest]
    return [start for number, start in enumerate(filled) if not number or start[0] >= 2 * filled[number - 1][0]]


def _with_reaches(edges: Edges, chunks: Sequence[Progression], ranges: Mapping[Progression, int]) -> tuple[Level, ...]:
    """Return the levels of these chunks: each is kept for the windows that start at its edges or between them, and for
    as long as a chunk of the next level takes to close, or reaches beyond a window's start."""
    levels = [Level(edges, 0), *(Level((start,), 0) for start in chunks)]
    reaches = [0] * len(levels)
    for start, longest in ranges.items():
        number = _level_of(levels, start)
        reaches[number] = max(reaches[number], longest)
    with_reaches = []
    for number, level in enumerate(levels):
        longer = levels[number + 1].edges[0][0] if number + 1 < len(levels) else 0
        with_reaches.append(Level(level.edges, max(reaches[: number + 1]) + longer))
    return tuple(with_reaches)


def _retained(levels: Sequence[Level]) -> float:
    """Return the slices and chunks that are kept, of a key that always has events."""
    return sum(level.reach * sum(1 / period for period, _ in level.edges) for level in levels)


def cover_windows(levels: Sequence[Level], windows: IntArray, after: int, until: int) -> list[list[Span]]:
    """Return, by level, the spans to read for the windows that end in (after, until]; [] where none does.

    `windows` has four rows: range, slide, offset, and the number of the level that a window starts at.

    >>> levels = [Level(((1, 0),), 20), Level(((10, 0),), 1000)]
    >>> cover_windows(levels, np.array([[10, 100], [1, 10], [0, 0], [0, 1]]), 200, 205)  # 10 every 1, 100 every 10
    [[(191, 205)], []]
    >>> cover_windows(levels, np.array([[10, 100], [1, 10], [0, 0], [0, 1]]), 200, 210)
    [[(190, 210)], [(110, 190)]]
    """
    boundaries = _boundaries(windows, after, until)
    if not boundaries:
        return []
    low, high = min(first for first, _, _ in boundaries), max(last for _, last, _ in boundaries)
    return cover_span(levels, (low, high), boundaries)


def window_times(windows: IntArray, after: int, until: int, most: int) -> IntArray | None:
    """Return the times at which the windows start or end that end in (after, until]; None if they are more than `most`.

    `windows` has the rows that `cover_windows` takes.

    >>> window_times(np.array([[10, 100], [1, 10], [0, 0], [0, 1]]), 200, 202, most=10).tolist()
    [191, 192, 201, 202]
    """
    range_, slide, offset, _ = windows
    first = (after - range_ - offset) // slide + 1
    counts = np.maximum((until - range_ - offset) // slide - first + 1, 0)
    if 2 * counts.sum(dtype=np.float64) > most:
        return None
    number = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    begin = np.repeat(first * slide + offset, counts) + np.repeat(slide, counts) * number
    return np.unique(np.concatenate([begin, begin + np.repeat(range_, counts)]))


def cover_span(levels: Sequence[Level], span: Span, boundaries: Iterable[tuple[int, int, int]]) -> list[list[Span]]:
    """Cover a span by the coarsest levels. A boundary (first, last, level) says that windows start or end at edges of a
    level from the first time to the last: there is nothing coarser than it between them.

    >>> levels = [Level(((1, 0),), 8), Level(((4, 0),), 100), Level(((16, 0),), 100)]
    >>> cover_span(levels, (2, 41), [(2, 3, 0), (39, 41, 0)])
    [[(2, 4), (36, 41)], [(4, 16), (32, 36)], [(16, 32)]]
    """
    in_order = sorted(boundaries)
    spans: list[list[Span]] = [[] for _ in levels]
    left = [span]
    for number in range(len(levels) - 1, 0, -1):
        blocked = _join([(first, last) for first, last, level in in_order if level < number])
        finer: list[Span] = []
        for low, high in left:
            for piece, is_free in _split(low, high, blocked):
                begin, end = _ceil(levels[number], piece[0]), levels[number].floor(piece[1])
                if is_free and begin < end:
                    spans[number].append((begin, end))
                    finer += [(piece[0], begin), (end, piece[1])]
                else:
                    finer.append(piece)
        left = _join([(low, high) for low, high in finer if low < high])
    spans[0] = left
    return spans


def _ceil(level: Level, time: int) -> int:
    floor = level.floor(time)
    return floor if floor == time else floor + level.edges[0][0]


def _boundaries(windows: IntArray, after: int, until: int) -> list[tuple[int, int, int]]:
    """Return where the windows start that end in (after, until], each with the level of these starts, and where they
    end."""
    range_, slide, offset, level = windows
    first = (after - range_ - offset) // slide + 1
    last = (until - range_ - offset) // slide
    some = np.flatnonzero(last >= first)
    if not len(some):
        return []
    begin, end = (first * slide + offset)[some], (last * slide + offset)[some]
    range_ = range_[some]
    starts = set(zip(begin.tolist(), end.tolist(), level[some].tolist(), strict=True))
    return [*starts, (int((begin + range_).min()), int((end + range_).max()), 0)]


def _join(spans: list[Span]) -> list[Span]:
    """Return spans in order, with those that touch or overlap made one."""
    joined: list[Span] = []
    for low, high in sorted(spans):
        if joined and low <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(high, joined[-1][1])
        else:
            joined.append((low, high))
    return joined


def _split(low: int, high: int, blocked: Sequence[Span]) -> Iterable[tuple[Span, bool]]:
    """Cut a span at blocked ones, which may be single points; say of each piece whether it is free."""
    for first, last in blocked:
        if last <= low or first >= high:  # a point at either end cuts nothing
            continue
        if low < first:
            yield (low, first), True
        yield (max(low, first), min(high, last)), False
        low = min(high, last)
    if low < high:
        yield (low, high), True
