"""sliding on what users have: nulls of every kind, types that come back, columns too short for a window."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jobs.kernels import KERNELS, sliding
from optimizer.algebra.aggregates import AGGREGATES
from optimizer.algebra.techniques import allowed
from optimizer.windows.window import Window
from tests.jobs.kernels.in_memory.test_sliding import ONE_COLUMN
from tests.oracle.naive_aggregates import OF_VALUES, not_null, same

WINDOWS = [Window(1, 1), Window(3, 1), Window(17, 1), Window(12, 4), Window(13, 5, 3)]
PAIRS = [
    (aggregate, kernel)
    for aggregate in ONE_COLUMN
    for kernel in KERNELS
    if all(allowed(kernel, need.component) for need in AGGREGATES[aggregate].needs)
]


def naive(values: list[Any], window: Window, aggregate: str) -> list[Any]:
    held = [values[i : i + window.range] for i in range(window.offset, len(values) - window.range + 1, window.slide)]
    if aggregate in ("first", "last", "any_value"):
        return [rows[-1 if aggregate == "last" else 0] for rows in held]
    return [OF_VALUES[aggregate](not_null(rows)) for rows in held]


@pytest.mark.parametrize(("aggregate", "kernel"), PAIRS)
def test_nulls_are_ignored_by_every_kernel(aggregate: str, kernel: str) -> None:
    random = np.random.default_rng(11)
    nulls = (random.random(70) < 0.5) | (np.arange(70) // 20 == 1)  # some windows hold nothing else
    kinds = [np.bool_] if aggregate.startswith("bool") else [np.int64] if aggregate.startswith("bit") else [int, float]
    tolerance = 1e-9 if AGGREGATES[aggregate].kind == "algebraic" or aggregate == "product" else 0.0
    for kind in kinds:
        numbers = random.integers(0, 4, 70).astype(kind)
        values = [None if null else number.item() for null, number in zip(nulls, numbers, strict=True)]
        for given in (np.ma.array(numbers, mask=nulls), values):
            for window, got in zip(WINDOWS, sliding(given, WINDOWS, aggregate, kernel), strict=True):
                want = naive(values, window, aggregate)
                assert len(got) == len(want)
                for a, b in zip(got.tolist(), want, strict=True):
                    missing = np.nan if got.dtype.kind == "f" else None
                    assert same(a, missing if b is None else b, tolerance), (window, a, b)


def test_integers_keep_their_digits_beside_a_null() -> None:
    large = 2**62 + 1
    (got,) = sliding(np.ma.array([large, 0, 0], mask=[False, True, True]), (2, 1), "max")
    assert got.dtype == np.int64
    assert got.tolist() == [large, None]


def test_what_is_masked_may_be_anything() -> None:
    beyond = np.ma.array([2**62, 3, 4], mask=[True, False, False])
    assert sliding(beyond, (2, 1), "sum_squares")[0].tolist() == [9, 25]
    assert sliding(np.ma.array([np.nan, 3, 4], mask=[True, False, False]), (2, 1), "max")[0].tolist() == [3, 4]


def test_words_and_times_with_nulls() -> None:
    words = ["b", None, "a", None, None]
    assert sliding(words, (2, 1), "min")[0].tolist() == ["b", "a", "a", None]
    assert sliding(words, (2, 1), "count")[0].tolist() == [1, 1, 1, 0]
    assert sliding(words, (2, 1), "last")[0].tolist() == [None, "a", None, None]
    days = np.array(["2020-01-02", "NaT", "NaT", "1969-12-31"], "datetime64[D]")
    for aggregate in ("min", "max"):
        (got,) = sliding(days, (2, 1), aggregate)
        assert got.dtype == days.dtype
        assert got.astype(str).tolist() == ["2020-01-02", "NaT", "1969-12-31"]


def test_types_come_back() -> None:
    assert sliding([True, False, True], (2, 1), "max")[0].tolist() == [True, True]
    assert sliding([True, False, True], (2, 1), "sum")[0].tolist() == [1, 1]
    assert sliding(np.array([1, 2], np.uint64), (2, 1), "sum")[0].tolist() == [3]
    assert sliding(np.array(["b", "a"], np.dtypes.StringDType()), (2, 1), "min")[0].tolist() == ["a"]
    assert sliding(np.arange(5).astype(">i8")[::-2], (2, 1), "sum")[0].tolist() == [6, 2]


@pytest.mark.parametrize("aggregate", ONE_COLUMN)
def test_no_full_window_is_no_answer(aggregate: str) -> None:
    values = np.array([True, True, False]) if aggregate.startswith("b") else np.array([1, 2, 3])
    longer, shifted, full = sliding(values, [(4, 1), (3, 2, 1), (3, 1)], aggregate)
    assert len(longer) == len(shifted) == 0
    assert len(full) == 1
    assert longer.dtype == shifted.dtype == full.dtype
    assert len(sliding(values[:0], (1, 1), aggregate)[0]) == 0


def test_no_windows_and_windows_with_an_offset() -> None:
    assert sliding([1, 2, 3], [], "max") == []
    assert sliding([1, 2, 3, 4], (2, 2, 1), "sum")[0].tolist() == [5]
    assert sliding([1, 2, 3, 4], [(2, 2, -1), (2, 2)], "sum")[0].tolist() == [5]
    assert sliding([], [(1, 1)], "max")[0].tolist() == []
    assert sliding([None, None], (1, 1), "min")[0].tolist() == pytest.approx([np.nan] * 2, nan_ok=True)


@pytest.mark.parametrize("spike", [1e16, -1e100, np.inf, np.nan])
def test_the_variance_forgets_a_spike_that_nulls_follow(spike: float) -> None:
    values = [1.0, spike, None, None, -62.0, -102.0, -116.0, None]
    for range_ in (3, 4, 5, 6):
        (got,) = sliding(values, (range_, 1), "var_pop")
        for row in range(2, len(got)):  # the windows that no longer hold it
            want = naive(values, Window(range_, 1), "var_pop")[row]
            assert same(got[row].item(), np.nan if want is None else want, 1e-12), (range_, row)
