"""Many windows over one dense column: chunks are folded once per slide, finer ones feed coarser ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jobs.kernels.columns import Column
from jobs.kernels.hops import chunks, hop_chunks
from jobs.kernels.ladder import ladder
from optimizer.windows.window import Window

Level = tuple[int, int]  # slide, and the tick its first chunk starts at


def weave(op: int, column: Column, windows: Sequence[Window]) -> list[Column]:
    """The fold of every full window, an array per window; row i of the column is tick i."""
    levels = _levels(op, column, sorted({_level(window) for window in windows}))
    answers: dict[Window, Column] = {}
    for level, group in _by_level(windows).items():
        consecutive = _consecutive(group)
        if len(consecutive) > 1:
            answers.update(zip(consecutive, ladder(op, levels[level], len(consecutive)), strict=True))
        for window in group:
            if window not in answers:
                answers[window] = _one(op, window, levels)
    return [answers[window] for window in windows]


def _level(window: Window) -> Level:
    return window.slide, window.offset % window.slide


def _by_level(windows: Sequence[Window]) -> dict[Level, list[Window]]:
    groups: dict[Level, list[Window]] = {}
    for window in sorted(set(windows)):
        groups.setdefault(_level(window), []).append(window)
    return groups


def _consecutive(group: Sequence[Window]) -> list[Window]:
    """The windows of 1, 2, 3, ... slides that a level begins with: each is the one before and one chunk more."""
    found: list[Window] = []
    for window in group:
        if window.range == (len(found) + 1) * window.slide:
            found.append(window)
    return found


def _finer(levels: dict[Level, Column], *ticks: int) -> int:
    """The coarsest slide whose chunks, from tick 0 on, have edges at all of these ticks."""
    return max(slide for slide, start in levels if start == 0 and all(tick % slide == 0 for tick in ticks))


def _levels(op: int, column: Column, wanted: Sequence[Level]) -> dict[Level, Column]:
    """The chunks of every slide that fit into the column."""
    levels: dict[Level, Column] = {(1, 0): column}
    for slide, start in wanted:
        if (slide, start) not in levels:
            finer = _finer(levels, slide, start)
            out = np.empty((len(column) - start) // slide, column.dtype)
            chunks(op, levels[finer, 0][start // finer :], slide // finer, slide // finer, out)
            levels[slide, start] = out
    return levels


def _one(op: int, window: Window, levels: dict[Level, Column]) -> Column:
    slide, start = _level(window)
    whole, fragment = divmod(window.range, slide)
    count = (len(levels[1, 0]) - start - window.range) // slide + 1
    out = np.empty(count, levels[1, 0].dtype)
    finer = _finer(levels, slide, start, fragment)
    ends = levels[finer, 0][(start + whole * slide) // finer :]
    hop_chunks(op, ends, levels[slide, start][: count + whole - 1], fragment // finer, slide // finer, out)
    return out
