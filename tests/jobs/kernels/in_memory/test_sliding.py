"""sliding: every aggregate by every kernel against the oracle, its refusals, its types, and without the JIT."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.kernels import KERNELS, sliding
from jobs.kernels.columns.levels import _slide_rows
from optimizer.algebra.aggregates import AGGREGATES
from optimizer.algebra.techniques import allowed
from optimizer.errors import HeddleError
from optimizer.windows.window import Window
from tests.oracle.naive_aggregates import OF_VALUES, same

ONE_COLUMN = [known.name for known in AGGREGATES.values() if known.kind != "holistic" and known.arguments == 1]
WINDOWS = [Window(1, 1), Window(2, 1), Window(3, 1), Window(7, 1), Window(40, 1), Window(12, 4), Window(13, 5, 3)]


def naive(values: list[Any], window: Window, aggregate: str) -> list[Any]:
    first = window.offset % window.slide
    held = [values[i : i + window.range] for i in range(first, len(values) - window.range + 1, window.slide)]
    if aggregate in ("first", "last", "any_value"):
        return [rows[-1 if aggregate == "last" else 0] for rows in held]
    return [OF_VALUES[aggregate](rows) for rows in held]


def check(values: Any, aggregate: str, kernel: str | None, tolerance: float) -> None:
    plain = [value.item() for value in np.asarray(values)]
    for window, got in zip(WINDOWS, sliding(values, WINDOWS, aggregate, kernel), strict=True):
        want = naive(plain, window, aggregate)
        assert len(got) == len(want)
        for a, b in zip(got.tolist(), want, strict=True):
            assert same(a, float("nan") if b is None else b, tolerance), (aggregate, kernel, window, a, b)


@pytest.mark.parametrize("aggregate", ONE_COLUMN)
@pytest.mark.parametrize("kernel", [None, *KERNELS])
def test_every_aggregate_by_every_kernel(aggregate: str, kernel: str | None) -> None:
    if kernel and not all(allowed(kernel, need.component) for need in AGGREGATES[aggregate].needs):
        with pytest.raises(HeddleError, match="use one of"):
            sliding([1, 2, 3], Window(2, 1), aggregate, kernel)
        return
    tolerance = 1e-9 if AGGREGATES[aggregate].kind == "algebraic" or aggregate == "product" else 0.0
    values = np.random.default_rng(9).integers(1, 4, 90)
    check(values % 2 == 0 if aggregate.startswith("bool") else values, aggregate, kernel, tolerance)
    if not aggregate.startswith("b"):
        check(values.astype(float), aggregate, kernel, tolerance)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([1.0, -2.0, 0.0, -0.0, np.nan, np.inf, -np.inf]), min_size=40, max_size=90))
def test_what_is_not_finite(values: list[float]) -> None:
    for aggregate in ("sum", "min", "max", "count", "avg", "var_pop", "geometric_mean", "first"):
        check(np.array(values), aggregate, None, 1e-12)


def test_many_windows_share_their_chunks() -> None:
    values = np.random.default_rng(10).integers(-99, 99, 3_000)
    windows = [
        Window(s * m + f, s, o) for s in (1, 2, 5, 10, 50) for m in (1, 3, 30) for f in (0, s // 2) for o in (0, s // 3)
    ]
    for aggregate in ("sum", "max", "min"):
        for window, got in zip(windows, sliding(values, windows, aggregate), strict=True):
            assert got.tolist() == naive(values.tolist(), window, aggregate)


@pytest.mark.parametrize(
    ("values", "windows", "aggregate", "kernel", "line"),
    [
        ([1, 2, 3], (2, 1), "maxx", None, "did you mean max?"),
        ([1, 2, 3], (2, 1), "max", "slick_deque_noninw", "did you mean slick_deque_noninv?"),
        ([1, 2, 3], (2, 3), "max", None, "at most the range"),
        ([1, 2, 3], (0, 0), "max", None, "at least 1"),
        ([1, 2, 3], Window(2, 2, 1), "max", "slick_deque_inv", "needs a component that is invertible"),
        ([1, 2, 3], [(2, 1), 3], "max", None, "is not a window"),
        ([1, 2, 3], (2, 1), "median", None, "holistic"),
        ([1, 2, 3], (2, 1), "argmax", None, "two columns"),
        ([[1, 2]], (1, 1), "max", None, "dimensions"),
        ([1.5, 2.5], (1, 1), "bit_or", None, "needs integers"),
        (["a", "b"], (1, 1), "sum", None, "needs numbers"),
        ([1, 2, 3], (2.5, 1), "max", None, "is not a window"),
        ([1, 2, 3], 2, "max", None, "is not a window"),
        (5, (1, 1), "max", None, "0 dimensions"),
        ([object(), object()], (1, 1), "max", None, "have no order"),
        ([2**64 - 1], (1, 1), "max", None, "does not fit into int64"),
        ([2**63 - 1, -1], (2, 1), "range", None, "does not fit"),
        ([2**63 - 1, -1], (2, 1), "range", "daba", "does not fit"),
        ([1j], (1, 1), "max", None, "cannot be aggregated"),
        ([2**62, 2**62], (2, 1), "sum", None, "does not fit"),
        ([2**62, 2**62], (2, 1), "sum", "panes", "does not fit"),
        ([2**62], (1, 1), "sum_squares", None, "does not fit"),
    ],
)
def test_a_mistake_is_one_line(values: Any, windows: Any, aggregate: str, kernel: str | None, line: str) -> None:
    with pytest.raises(HeddleError) as refused:
        sliding(values, windows, aggregate, kernel)
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), min_size=3, max_size=20))
def test_strings_are_in_the_order_of_their_bytes(words: list[str]) -> None:
    column = np.array(words, object)
    for aggregate, best in (("min", min), ("max", max)):
        (got,) = sliding(column, (3, 1), aggregate)
        assert got.tolist() == [best(words[i : i + 3], key=str.encode) for i in range(len(words) - 2)]


def test_strings_dates_and_timestamps() -> None:
    words = ["b", "\U0001f600", "a", "\uffff", "z"]
    assert sliding(words, (3, 1), "max")[0].tolist() == ["\U0001f600", "\U0001f600", "\uffff"]
    days = np.array(["2020-01-02", "1969-12-31", "2021-05-05"], "datetime64[D]")
    assert sliding(days, (2, 1), "min")[0].tolist() == [datetime.date(1969, 12, 31)] * 2


def test_without_the_jit() -> None:
    code = (
        "import numpy as np\n"
        "from jobs.kernels import sliding\n"
        "from optimizer.windows.window import Window\n"
        "values = np.arange(700.0) % 7\n"
        "for window in (Window(3, 1), Window(300, 1), Window(50, 20), Window(45, 7)):\n"
        "    for aggregate, oracle in (('sum', np.sum), ('max', np.max), ('min', np.min)):\n"
        "        (got,) = sliding(values, window, aggregate)\n"
        "        want = [oracle(values[i : i + window.range]) for i in range(0, 701 - window.range, window.slide)]\n"
        "        assert got.tolist() == want, (window, aggregate)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"})


def test_a_column_that_may_not_be_written_to_is_not_compiled_for_anew() -> None:
    values = np.arange(40.0)
    (first,) = sliding(values, (3, 1), "max")
    compiled = len(_slide_rows.overloads)
    values.flags.writeable = False
    assert np.array_equal(sliding(values, (3, 1), "max")[0], first)
    assert len(_slide_rows.overloads) == compiled
