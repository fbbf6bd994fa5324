"""Cells: the pairs of key and slice that occur, numbered key by key and in slice order."""

from __future__ import annotations

import numpy as np

from jobs.engine.slices.cells import Cells, cells_in_order, cells_of_starts, find_cells

EDGES = ((10, 0), (10, 4))  # slices [0, 4), [4, 10), [10, 14), ...


def content(cells: Cells) -> tuple[list[int], list[int], list[int]]:
    return cells.cell.tolist(), cells.code.tolist(), cells.start.tolist()


def test_events_fall_into_the_slice_that_holds_their_time() -> None:
    times, codes = np.array([3, 4, 25, 9]), np.array([1, 0, 0, 0])
    assert content(find_cells(EDGES, times, codes, groups=2)) == ([2, 0, 1, 0], [0, 0, 1], [4, 24, 0])


def test_times_far_apart_take_no_room_for_the_slices_between() -> None:
    """A hundred billion slices lie between; an array with a place for each would not fit into memory."""
    times = np.array([5, 1_000_000_000_000])
    assert content(find_cells(EDGES, times, np.array([0, 0]), groups=1)) == ([0, 1], [0, 0], [4, 1_000_000_000_000])


def test_partials_in_order_get_the_numbers_that_a_sort_would_give() -> None:
    start, codes = np.array([0, 4, 4, 0, 10]), np.array([0, 0, 0, 1, 1])
    assert content(cells_in_order(start, codes)) == content(cells_of_starts(start, codes, 2))


def test_without_events_there_are_no_cells() -> None:
    nothing = np.empty(0, np.int64)
    assert content(find_cells(EDGES, nothing, nothing, 0)) == ([], [], [])
