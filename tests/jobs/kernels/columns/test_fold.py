"""The columnar folds against the oracle: gaps, groups, nulls, NaN, infinities, -0.0, and exact integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.kernels.algebra.operators import (
    BIT_AND,
    BIT_OR,
    COUNT,
    LAST,
    MAX,
    MIN,
    MOMENTS,
    PRODUCT,
    SUM_FLOAT,
    SUM_INT,
    lift,
)
from jobs.kernels.columns.bounds import find_windows
from jobs.kernels.columns.fold import fold, prepare, split_limbs
from jobs.kernels.columns.fold_bounds import REGULAR, fold_between, pick_rows
from optimizer.windows.window import Window
from tests.oracle.naive_aggregates import OF_VALUES, rank, same

NAMES = {SUM_FLOAT: "sum", SUM_INT: "sum", COUNT: "count", PRODUCT: "product", MIN: "min", MAX: "max"}
NAMES |= {BIT_AND: "bit_and", BIT_OR: "bit_or"}
INTEGERS = [SUM_INT, MIN, MAX, BIT_AND, BIT_OR]
FLOATS = [SUM_FLOAT, PRODUCT, MIN, MAX]
odd = st.sampled_from([float("nan"), float("inf"), -float("inf"), -0.0, 0.0, None])
floats = st.lists(st.one_of(st.integers(-3, 3).map(float), odd), min_size=1, max_size=60)
integers = st.lists(st.one_of(st.integers(-9, 9), st.none()), min_size=1, max_size=60)


def column(values: list[Any], kind: type) -> tuple[np.ndarray, np.ndarray]:
    return np.array([0 if v is None else v for v in values], kind), np.array([v is not None for v in values])


def bounds(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    starts = np.sort(draw.choice(3 * rows, rows, replace=False))
    cut = int(draw.integers(0, rows + 1))
    slide = int(draw.integers(1, 9))
    window = Window(slide + int(draw.integers(0, 40)), slide, int(draw.integers(0, 9)))
    windows = find_windows(np.array([0, cut, rows]), starts, window, -(10**9), 10**9)
    return windows.lo, windows.hi


def check(name: str, values: list[Any], lo: Any, hi: Any, got: Any, valid: Any, tolerance: float = 0.0) -> None:
    for i in range(len(lo)):
        held = [v for v in values[lo[i] : hi[i]] if v is not None]
        want = OF_VALUES[name](held)
        assert same(got[i].item() if valid is None or valid[i] else None, want, tolerance), (name, lo[i], hi[i], want)


@settings(max_examples=100, deadline=None)
@given(floats, st.integers(0, 10**6))
def test_floats(values: list[float | None], seed: int) -> None:
    numbers, valid = column(values, float)
    lo, hi = bounds(len(values), seed)
    for op in FLOATS:
        answer = fold(op, (numbers,), lo, hi, valid)
        check(NAMES[op], values, lo, hi, answer.columns[0], answer.valid)


@pytest.mark.parametrize("width", [1, 3, 70])
@pytest.mark.parametrize("op", FLOATS)
def test_many_windows_of_the_same_slices(op: int, width: int) -> None:
    """In a long gap of the events, one window after another holds the slices before it, or those behind it."""
    values = [float(number % 7) for number in range(2 * width + 1)]
    lo = np.concatenate([np.arange(width), np.full(2 * REGULAR, width), width + 1 + np.arange(width)])
    lo = lo[lo + width <= len(values)]
    answer = fold(op, (np.array(values),), lo, lo + width)
    check(NAMES[op], values, lo, lo + width, answer.columns[0], answer.valid)


@settings(max_examples=100, deadline=None)
@given(integers, st.integers(0, 10**6))
def test_integers(values: list[int | None], seed: int) -> None:
    numbers, valid = column(values, int)
    lo, hi = bounds(len(values), seed)
    for op in INTEGERS:
        answer = fold(op, (numbers,), lo, hi, valid)
        check(NAMES[op], values, lo, hi, answer.columns[0], answer.valid)
    check("count", values, lo, hi, fold(COUNT, (valid.astype(int),), lo, hi).columns[0], np.ones(len(lo)))


@pytest.mark.parametrize("op", FLOATS[:1] + FLOATS[2:])
@pytest.mark.parametrize(
    ("width", "step"), [(5, 1), (64, 1), (129, 1), (700, 1), (1300, 1), (40, 8), (45, 8), (900, 64)]
)
@pytest.mark.parametrize("nans", [0, 1, 50])
def test_long_regular_runs_take_the_dense_form(op: int, width: int, step: int, nans: int) -> None:
    draw = np.random.default_rng(width)
    numbers = draw.integers(-50, 50, 4000).astype(float)
    numbers[draw.choice(4000, nans, replace=False)] = np.nan
    lo = np.arange(0, 4000 - width + 1, step)
    got = fold(op, (numbers,), lo, lo + width).columns[0]
    reduce = {SUM_FLOAT: np.add, MIN: np.fmin, MAX: np.maximum}[op].reduce
    want = [reduce(numbers[i : i + width]) for i in lo]
    assert np.array_equal(got, want, equal_nan=True)


@pytest.mark.parametrize("edge", [2**63 - 1, -(2**63)])
def test_a_sum_leaves_int64_only_where_it_truly_does(edge: int) -> None:
    numbers = np.array([edge, 1 if edge > 0 else -1, -edge // 2, 5, edge, -edge // 2 - 7])
    lo = np.repeat(np.arange(5), 1)
    hi = lo + 2
    for columns in ((numbers,), split_limbs(numbers)):
        answer = fold(SUM_INT, columns, lo, hi)
        for i in range(5):
            true = sum(numbers[lo[i] : hi[i]].tolist())
            assert answer.overflow[i] == (not -(2**63) <= true < 2**63)
            assert answer.overflow[i] or answer.columns[0][i] == true


def test_several_queries_share_the_slices() -> None:
    numbers, valid = column([3, None, 5, 1, None, 2] * 20, int)
    queries = [(np.arange(0, 100), np.arange(0, 100) + width) for width in (1, 7, 20)]
    for op in INTEGERS:
        shared = prepare(op, (numbers,), valid, len(numbers))
        for lo, hi in queries:
            together = shared.join([fold_between(part, column, lo, hi) for part, column in shared.parts])
            alone = fold(op, (numbers,), lo, hi, valid)
            assert all(
                np.array_equal(a, b)
                for a, b in zip((*together[0], *together[1:]), (*alone[0], *alone[1:]), strict=True)
            )


@settings(max_examples=100, deadline=None)
@given(floats, st.integers(0, 10**6))
def test_picked_rows(values: list[float | None], seed: int) -> None:
    numbers, valid = column(values, float)
    lo, hi = bounds(len(values), seed)
    for op, best in ((MIN, min), (MAX, max), (LAST, max)):
        for i, row in enumerate(pick_rows(op, numbers, lo, hi, valid).tolist()):
            held = [j for j in range(lo[i], hi[i]) if values[j] is not None]
            tied = [j for j in held if rank(values[j]) == best(rank(values[k]) for k in held)] or [-1]
            assert row == (tied[-1] if op == LAST else tied[0])


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.one_of(st.integers(-3, 3).map(lambda v: 1e9 + v / 8), odd), min_size=1, max_size=40), st.integers(0, 99)
)
def test_moments_keep_their_digits(values: list[float | None], seed: int) -> None:
    numbers, valid = column(values, float)
    lo, hi = bounds(len(values), seed)
    rows = lift(MOMENTS, numbers, valid)
    answer = fold(MOMENTS, (rows[:, 0], rows[:, 1], rows[:, 2]), lo, hi, valid)
    with np.errstate(invalid="ignore"):
        variance = answer.columns[2] / answer.columns[0]
    check("var_pop", values, lo, hi, variance, answer.valid, 1e-7)
