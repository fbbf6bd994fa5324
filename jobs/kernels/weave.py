"""Many windows over one dense column: chunks are folded once per slide, finer ones feed coarser ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jobs.kernels.columns import Column
from jobs.kernels.hops import chunks, hop_chunks
from jobs.kernels.ladder import ladder
from jobs.kernels.room import padded, room
from optimizer.windows.window import Window

Level = tuple[int, int]  # slide, and the tick its first chunk starts at


def weave(op: int, column: Column, windows: Sequence[Window]) -> list[Column]:
    """The fold of every full window, an array per window, all in one block of memory; row i is tick i."""
    column = np.ascontiguousarray(column)
    levels = _levels(op, column, sorted({_level(window) for window in windows}))
    ladders = _ladders(windows)
    single = sorted(set(windows).difference(*ladders.values()))
    sizes = [len(climbed) * padded(len(levels[level])) for level, climbed in ladders.items()]
    blocks = iter(room([*sizes, *(_count(window, len(column)) for window in single)], column.dtype))
    answers: dict[Window, Column] = {}
    for level, climbed in ladders.items():
        answers.update(zip(climbed, ladder(op, levels[level], next(blocks).reshape(len(climbed), -1)), strict=True))
    for window in single:
        answers[window] = next(blocks)
        _one(op, window, levels, answers[window])
    return [answers[window] for window in windows]


def _level(window: Window) -> Level:
    return window.slide, window.offset % window.slide


def _ladders(windows: Sequence[Window]) -> dict[Level, list[Window]]:
    """The windows of 1, 2, 3, ... slides that a level begins with: each is the one before and one chunk more."""
    ladders: dict[Level, list[Window]] = {}
    for window in sorted(set(windows)):
        climbed = ladders.setdefault(_level(window), [])
        if window.range == (len(climbed) + 1) * window.slide:
            climbed.append(window)
    return {level: climbed for level, climbed in ladders.items() if len(climbed) > 1}


def _count(window: Window, rows: int) -> int:
    return (rows - window.offset % window.slide - window.range) // window.slide + 1


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


def _one(op: int, window: Window, levels: dict[Level, Column], out: Column) -> None:
    slide, start = _level(window)
    whole, fragment = divmod(window.range, slide)
    finer = _finer(levels, slide, start, fragment)
    ends = levels[finer, 0][(start + whole * slide) // finer :]
    hop_chunks(op, ends, levels[slide, start][: len(out) + whole - 1], fragment // finer, slide // finer, out)
