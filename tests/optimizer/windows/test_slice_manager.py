"""The slice manager against the edges of the windows that are there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.errors import HeddleError
from optimizer.windows import Window, progressions
from optimizer.windows.slice_manager import SliceManager

windows = st.builds(Window, range=st.integers(1, 40), slide=st.integers(1, 15), offset=st.integers(0, 20))


def has_edge(present: list[Window], tick: int) -> bool:
    return any(tick % size == residue for window in present for size, residue in progressions(window))


@given(st.lists(st.tuples(windows, st.booleans(), st.integers(0, 25)), min_size=1, max_size=8))
@settings(max_examples=150, deadline=None)
def test_edges_are_those_of_the_windows_that_are_there(script: list[tuple[Window, bool, int]]) -> None:
    manager, present = SliceManager(), list[Window]()
    for window, leaves, ticks in script:
        manager.join(window)
        present.append(window)
        if leaves:
            manager.leave(present[0])
            del present[0]
        until = manager.now + ticks
        expected = [tick for tick in range(manager.now + 1, until + 1) if has_edge(present, tick)]
        assert [end for _, end in manager.slices(until)] == expected


def test_slices_follow_one_another() -> None:
    manager = SliceManager()
    manager.join(Window(27, 15))
    manager.join(Window(15, 9))
    slices = list(manager.slices(45))
    assert [end - start for start, end in slices] == [6, 3, 3, 3, 3, 6, 3, 3, 3, 3, 6, 3]
    assert manager.now == 45


def test_without_windows_there_is_no_edge() -> None:
    manager = SliceManager(now=100)
    assert manager.next_edge() is None
    manager.join(Window(10, 10))
    assert manager.next_edge() == 110
    manager.leave(Window(10, 10))
    assert manager.next_edge() is None
    assert manager.now == 110


def test_only_a_window_that_joined_can_leave() -> None:
    manager = SliceManager()
    manager.join(Window(10, 10))
    with pytest.raises(HeddleError, match="has not joined"):
        manager.leave(Window(20, 10))
