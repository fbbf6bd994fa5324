"""A million windows collapse into the classes that their progressions name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.windows import Window, collapse, progressions
from optimizer.windows.edges import distinct

scales = st.sampled_from([1, 60_000_000, 86_400_000_000])
columns = st.lists(st.tuples(st.integers(1, 99), st.integers(1, 24), st.integers(-9, 30)), min_size=1, max_size=40)


@given(columns, scales)
@settings(max_examples=100, deadline=None)
def test_classes_are_the_progressions(rows: list[tuple[int, int, int]], scale: int) -> None:
    table = np.array(rows, dtype=np.int64) * scale
    classes, index = collapse(table[:, 0], table[:, 1], table[:, 2])
    assert len(set(classes)) == len(classes)
    assert [classes[place] for place in index] == [progressions(Window(*map(int, row))) for row in table]


def test_without_residues_a_class_is_a_slide() -> None:
    slides = np.array([20, 5, 20, 10], dtype=np.int64)
    classes, index = collapse(slides * 3, slides)
    assert classes == [((5, 0),), ((10, 0),), ((20, 0),)]
    assert index.tolist() == [2, 0, 2, 1]


@pytest.mark.parametrize("spread", [1, 10**13])
@pytest.mark.parametrize("kinds", [3, 5000])
def test_distinct_is_numpys_unique(spread: int, kinds: int) -> None:
    keys = np.random.default_rng(1).integers(0, kinds, 5000) * spread - 7
    found, index = distinct(keys)
    expected, inverse = np.unique(keys, return_inverse=True)
    assert np.array_equal(found, expected)
    assert np.array_equal(index, inverse)


def test_nothing_collapses_into_nothing() -> None:
    empty = np.array([], dtype=np.int64)
    classes, index = collapse(empty, empty)
    assert classes == []
    assert index.tolist() == []
