"""Operators on bare columns: one number a slice, and the identity where a slice is null."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from jobs.kernels.operators import BIT_AND, MAX, MIN, PRODUCT, SUM_FLOAT

Column = NDArray[Any]  # float64 or int64
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def identity(op: int, kind: np.dtype[Any]) -> float | int:
    """What combines with any value and leaves it as it is. NaN is Spark's largest number, so it is MIN's."""
    if op == MIN:
        return np.nan if kind.kind == "f" else np.iinfo(np.int64).max
    if op == MAX:
        return -np.inf if kind.kind == "f" else np.iinfo(np.int64).min
    return {PRODUCT: 1, BIT_AND: -1}.get(op, 0)


@njit(cache=True, nogil=True, inline="always")
def fuse(op, a, b):  # type: ignore[no-untyped-def]
    """a combined with b, in Spark's order of NaN; int64 sums wrap, so the caller makes sure that they fit."""
    if op <= SUM_FLOAT:
        return a + b
    if op == PRODUCT:
        return a * b
    if op == MIN:
        return a if a <= b or b != b else b
    if op == MAX:
        return a if a >= b or a != a else b
    if op == BIT_AND:
        return np.int64(a) & np.int64(b)
    return np.int64(a) | np.int64(b)
