"""Lanes: what is compiled gives what plain Python gives, and the dense forms built on them lose no row at any edge."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from jobs.kernels.algebra.operators import BIT_AND, BIT_OR, MAX, MIN, PRODUCT, SUM_FLOAT, SUM_INT
from jobs.kernels.columns.one_row_apart import BLOCK, SHORT, TILE, fold_one_row_apart
from jobs.kernels.columns.operators import fold_all, has_nan
from jobs.kernels.columns.simd import (
    any_bits,
    both_bits,
    element,
    larger,
    largest,
    load,
    nans,
    smaller,
    smallest,
    spread,
    store,
    straddle,
)

FLOATS = np.array([1.0, np.nan, -0.0, np.inf]), np.array([np.nan, 2.0, 0.0, -np.inf])
INTEGERS = np.array([1, -7, 2**62, 3]), np.array([2, -9, -(2**62), 3])
REDUCE = {SUM_INT: np.add, SUM_FLOAT: np.add, PRODUCT: np.multiply, BIT_AND: np.bitwise_and, BIT_OR: np.bitwise_or}


@njit
def _by_vectors(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    a, b = load(x, 0), load(y, 0)
    store(out, 0, a + b)
    store(out, 4, a * b)
    store(out, 8, larger(a, b))
    store(out, 12, smaller(a, b))
    store(out, 16, largest(a, b))
    store(out, 20, smallest(a, b))
    store(out, 24, straddle(a, b))
    store(out, 28, spread(x[0]))
    out[32], out[33], out[34], out[35] = element(a, 2), element(b, 3), largest(x[1], y[1]), smallest(x[1], y[1])


@njit
def _bits(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    store(out, 0, both_bits(load(x, 0), load(y, 0)))
    store(out, 4, any_bits(load(x, 0), load(y, 0)))


@njit
def _nans(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    store(out, 0, nans(load(x, 0), load(y, 0)))


@pytest.mark.parametrize(("x", "y"), [FLOATS, INTEGERS], ids=["float64", "int64"])
def test_compiled_vectors_are_arrays_of_four(x: np.ndarray, y: np.ndarray) -> None:
    compiled, plain = np.zeros(36, x.dtype), np.zeros(36, x.dtype)
    _by_vectors(x, y, compiled)
    with np.errstate(all="ignore"):
        _by_vectors.py_func(x, y, plain)
    assert np.array_equal(compiled, plain, equal_nan=x.dtype.kind == "f")
    found, expected = np.zeros(4, np.int64), np.zeros(4, np.int64)
    _nans(x, y, found)
    _nans.py_func(x, y, expected)
    assert np.array_equal(found != 0, expected != 0)


def test_bits_of_vectors() -> None:
    out = np.zeros(8, np.int64)
    _bits(*INTEGERS, out)
    assert out.tolist() == [*(INTEGERS[0] & INTEGERS[1]), *(INTEGERS[0] | INTEGERS[1])]


@pytest.mark.parametrize("op", [SUM_INT, MIN, MAX, PRODUCT, BIT_AND, BIT_OR])
@pytest.mark.parametrize("width", [1, 3, 4, 15, 16, 23, 24, 47, SHORT - 1, SHORT, 71, 130, BLOCK + 8, 1_027])
def test_every_count_of_windows(op: int, width: int) -> None:
    """Integers that wrap are exact, whatever the order; counts around the edges of tiles and blocks."""
    numbers = np.random.default_rng(width).integers(-(2**62), 2**62, 2 * TILE + width + 20)
    reduce = REDUCE.get(op) or {MIN: np.minimum, MAX: np.maximum}[op]
    views = np.lib.stride_tricks.sliding_window_view(numbers, width)
    with np.errstate(over="ignore"):
        want = reduce.reduce(views, axis=1)
    for windows in (1, 2, width, width + 9, TILE - 1, TILE, TILE + 1, len(want)):
        out = np.zeros(windows, np.int64)
        fold_one_row_apart(op, numbers[: windows + width - 1], width, out)
        assert np.array_equal(out, want[:windows]), windows


@pytest.mark.parametrize("size", [1, 7, 8, 15, 16, 17, 100])
def test_a_nan_is_found_anywhere(size: int) -> None:
    for at in range(size):
        numbers = np.arange(float(size))
        assert not has_nan(numbers)
        assert fold_all(SUM_FLOAT, numbers) == numbers.sum()
        assert fold_all(MAX, numbers) == size - 1
        numbers[at] = np.nan
        assert has_nan(numbers)
        assert np.isnan(fold_all(MAX, numbers))
