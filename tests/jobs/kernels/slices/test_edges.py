"""Slices of a tree, against edges laid out one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.engine.slices.cells import find_cells
from jobs.kernels.slices.edges import count_between, edges_between, slice_numbers, slice_starts
from optimizer.windows.edges import Edges

progressions = st.tuples(st.integers(1, 12), st.integers(0, 11)).map(lambda pair: (pair[0], pair[1] % pair[0]))
trees = st.lists(progressions, min_size=1, max_size=4).map(tuple)
moments = st.lists(st.integers(-60, 60), min_size=1, max_size=30).map(lambda times: np.array(times, np.int64))


def is_edge(edges: Edges, time: int) -> bool:
    return any((time - residue) % period == 0 for period, residue in edges)


def start_of(edges: Edges, time: int) -> int:
    while not is_edge(edges, time):
        time -= 1
    return time


@settings(deadline=None)
@given(trees, st.integers(-60, 60), st.integers(0, 80))
def test_edges_between(edges: Edges, first: int, length: int) -> None:
    last = first + length
    expected = [time for time in range(start_of(edges, first), last + 1) if is_edge(edges, time)]
    found = edges_between(edges, first, last)
    assert found.tolist() == expected
    assert count_between(edges, first, last) >= len(expected)


@settings(deadline=None)
@given(trees, moments)
def test_slice_starts_laid_out_and_not(edges: Edges, times: np.ndarray) -> None:
    expected = [start_of(edges, int(time)) for time in times]
    assert slice_starts(edges, times).tolist() == expected
    far = np.append(times, 10**15)  # too many edges in between to lay them out
    assert slice_starts(edges, far).tolist() == [*expected, start_of(edges, 10**15)]


@settings(deadline=None)
@given(trees, moments)
def test_slice_numbers(edges: Edges, times: np.ndarray) -> None:
    laid_out = edges_between(edges, int(times.min()), int(times.max()))
    assert laid_out[slice_numbers(laid_out, times)].tolist() == [start_of(edges, int(time)) for time in times]


@settings(deadline=None)
@given(trees, moments, st.integers(1, 3), st.booleans())
def test_cells(edges: Edges, times: np.ndarray, groups: int, far: bool) -> None:
    if far:
        times = np.append(times, 10**15)
    codes = np.arange(len(times)) % groups
    cells = find_cells(edges, times, codes, groups)
    pairs = [(int(code), start_of(edges, int(time))) for code, time in zip(codes, times, strict=True)]
    places = list(zip(cells.code.tolist(), cells.start.tolist(), strict=True))
    assert places == sorted(set(pairs))
    assert [places[cell] for cell in cells.cell] == pairs


def test_nothing_to_slice() -> None:
    nothing = np.empty(0, np.int64)
    assert len(slice_starts(((5, 0),), nothing)) == 0
    assert len(find_cells(((5, 0),), nothing, nothing, 0).start) == 0
