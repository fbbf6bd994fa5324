"""Which windows end and which slices they hold, against every window tried one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.kernels.columns.bounds import find_windows
from optimizer.windows.window import Window

groups = st.lists(st.sets(st.integers(-60, 60), max_size=12).map(sorted), max_size=4)


@st.composite
def windows(draw: st.DrawFn) -> Window:
    slide = draw(st.integers(1, 12))
    return Window(slide + draw(st.integers(0, 30)), slide, draw(st.integers(-15, 15)))


def naive(slices: list[list[int]], window: Window, after: int, until: int) -> list[tuple[int, int, list[int]]]:
    found = []
    for group, starts in enumerate(slices):
        for k in range(-200, 200):
            start = k * window.slide + window.offset
            held = [time for time in starts if start <= time < start + window.range]
            if after < start + window.range <= until and held:
                found.append((group, start, held))
    return found


@settings(max_examples=300, deadline=None)
@given(groups, windows(), st.integers(-80, 80), st.integers(0, 200))
def test_equal_to_every_window_tried(slices: list[list[int]], window: Window, after: int, span: int) -> None:
    offsets = np.cumsum([0, *map(len, slices)])
    starts = np.array([time for group in slices for time in group], np.int64)
    found = find_windows(offsets, starts, window, after, after + span)
    answers = [
        (group, start, starts[lo:hi].tolist())
        for group, start, lo, hi in zip(*(column.tolist() for column in found), strict=True)
    ]
    assert answers == naive(slices, window, after, after + span)


def test_long_gaps_are_jumped_and_no_watermark_is_too_old() -> None:
    starts = np.array([-(10**15), 0, 10**15])
    found = find_windows(np.array([0, 3]), starts, Window(10, 5), -(10**30), 10**30)
    assert found.start.tolist() == [-(10**15) - 5, -(10**15), -5, 0, 10**15 - 5, 10**15]
    assert (found.hi - found.lo).tolist() == [1] * 6


def test_no_groups_and_no_slices() -> None:
    assert len(find_windows(np.array([0]), np.array([], np.int64), Window(2, 1), 0, 9).lo) == 0
    assert len(find_windows(np.array([0, 0, 0]), np.array([], np.int64), Window(2, 1), 0, 9).lo) == 0
