"""The cover of the windows that end: from which level each stretch of time is read.

Nothing that is read has a start or an end of such a window inside, so that every window is whole slices and chunks,
whatever their lengths. Starts of windows lie behind the watermark by their range, ends are recent; between them, where
most of the time is, the coarsest chunks do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from optimizer.plan.levels import Level
from optimizer.windows.columns import IntArray

Span = tuple[int, int]  # from the first time on, up to the second without it


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


def cover_span(levels: Sequence[Level], span: Span, boundaries: Iterable[tuple[int, int, int]]) -> list[list[Span]]:
    """Cover a span by the coarsest levels. A boundary (first, last, level) says that windows start or end at edges of a
    level from the first time to the last: there is nothing coarser than it between them.

    >>> levels = [Level(((1, 0),), 8), Level(((4, 0),), 100), Level(((16, 0),), 100)]
    >>> cover_span(levels, (2, 41), [(2, 3, 0), (39, 41, 0)])
    [[(2, 4), (36, 41)], [(4, 16), (32, 36)], [(16, 32)]]
    """
    known = sorted(boundaries)
    spans: list[list[Span]] = [[] for _ in levels]
    left = [span]
    for number in range(len(levels) - 1, 0, -1):
        blocked = _join([(first, last) for first, last, level in known if level < number])
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
