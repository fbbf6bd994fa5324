"""Room for columns: aligned, apart, and used again only when no one holds a column of it any more."""

from __future__ import annotations

import numpy as np
import pytest

from jobs.kernels import sliding
from jobs.kernels.columns import scratch as rooms
from jobs.kernels.columns.scratch import PAGE, allocate_columns
from optimizer.windows.window import Window

FLOATS, INTEGERS = np.dtype(np.float64), np.dtype(np.int64)


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "_idle", [])


@pytest.mark.parametrize("sizes", [[1], [8, 9, 1, 30], [300_000, 5]])
def test_columns_of_one_block_begin_lines_and_do_not_overlap(sizes: list[int]) -> None:
    columns = allocate_columns(sizes, FLOATS)
    for number, column in enumerate(columns):
        assert column.ctypes.data % 64 == 0
        column[:] = number
    assert [column.tolist() for column in columns] == [[number] * size for number, size in enumerate(sizes)]


def test_a_block_is_used_again_when_its_last_column_is_gone() -> None:
    first, second = allocate_columns([PAGE, PAGE], FLOATS)
    place, some = first.ctypes.data, second[5:9]
    del first, second
    (meanwhile,) = allocate_columns([2 * PAGE], FLOATS)
    assert meanwhile.ctypes.data != place
    del some
    (again,) = allocate_columns([2 * PAGE], INTEGERS)
    assert again.ctypes.data == place
    assert again.dtype == INTEGERS


def test_the_newest_are_kept_and_no_more_than_a_bound_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "KEPT", 40 * PAGE)
    blocks = [allocate_columns([PAGE], FLOATS) for _ in range(3)]
    places = [block[0].ctypes.data for block in blocks]
    while blocks:
        del blocks[0]
    assert 0 < sum(map(len, rooms._idle)) <= 40 * PAGE
    again = [allocate_columns([PAGE], FLOATS) for _ in range(2)]
    assert {block[0].ctypes.data for block in again} == {*places[1:]}


def test_a_much_larger_block_is_not_spent_on_a_small_column() -> None:
    del allocate_columns([8 * PAGE], FLOATS)[0]
    allocate_columns([PAGE], FLOATS)
    assert max(map(len, rooms._idle)) > 8 * PAGE


def test_answers_that_are_held_keep_their_values() -> None:
    values = np.arange(2.0 * PAGE)
    held = [sliding(values + shift, Window(2, 1), "sum")[0] for shift in range(4)]
    for shift, answer in enumerate(held):
        assert np.array_equal(answer, values[:-1] + values[1:] + 2 * shift)
