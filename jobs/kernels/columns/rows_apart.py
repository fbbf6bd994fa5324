"""Equal windows over a dense column, several rows apart: pairs of chunks, each row read once."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from jobs.kernels.algebra.operators import SUM_FLOAT
from jobs.kernels.arrays import Column
from jobs.kernels.columns.one_row_apart import fold_one_row_apart
from jobs.kernels.columns.operators import (
    CHAINS,
    QUICK_MAX,
    QUICK_MIN,
    fold_all,
    fold_vectors,
    fuse,
    fuse_into,
    has_nan,
    quick_operator,
)

STRIP: Final = 1024


@njit(inline="always")
def fold_rows_apart(op: int, column: Column, width: int, step: int, out: Column) -> None:
    """Set out[i] to the fold of column[i * step : i * step + width].

    >>> out = np.empty(2)
    >>> fold_rows_apart(5, np.array([3.0, 1.0, 2.0, 0.0, 4.0]), 3, 2, out)  # MAX
    >>> out.tolist()
    [3.0, 4.0]
    """
    whole = max(1, width // step)
    fragment = max(0, width - whole * step)
    starts = column
    if step > 1:
        starts = np.empty(out.size + whole - 1, column.dtype)
        fold_chunks(op, column, min(width, step), step, starts)
    fold_one_row_apart(op, starts, whole, out)
    if fragment:
        fragments = np.empty(out.size, out.dtype)
        fold_chunks(op, column[whole * step :], fragment, step, fragments)
        fuse_into(op, out, fragments)


@njit(cache=True, nogil=True)
def fold_chunks(op: int, column: Column, length: int, step: int, out: Column) -> None:
    """Set out[k] to the fold of column[k * step : k * step + length], at most step rows.

    >>> out = np.empty(2)
    >>> fold_chunks(5, np.array([3.0, 1.0, 2.0, 0.0, 4.0]), 2, 3, out)  # MAX
    >>> out.tolist()
    [3.0, 4.0]
    """
    quick = quick_operator(op)
    several = max(1, STRIP // step)
    for k in range(0, out.size, several):
        answers = out[k : k + several]
        rows = column[k * step : (k + answers.size - 1) * step + length]
        _fold_chunks(quick, rows, length, step, answers)
        if quick != op and has_nan(rows):
            _fold_chunks(op, rows, length, step, answers)


@njit(cache=True, nogil=True)
def _fold_chunks(op: int, column: Column, length: int, step: int, out: Column) -> None:
    if op <= SUM_FLOAT:
        _fold_chunks_by_vectors(SUM_FLOAT, column, length, step, out)
    elif op == QUICK_MAX:
        _fold_chunks_by_vectors(QUICK_MAX, column, length, step, out)
    elif op == QUICK_MIN:
        _fold_chunks_by_vectors(QUICK_MIN, column, length, step, out)
    else:
        for k in range(out.size):
            out[k] = fold_all(op, column[k * step : k * step + length])


@njit(cache=True, nogil=True, forceinline=True)
def _fold_chunks_by_vectors(op: int, column: Column, length: int, step: int, out: Column) -> None:
    if length >= CHAINS:
        for k in range(out.size):
            out[k] = fold_vectors(op, column, k * step, length)
    else:
        _short_chunks(op, column, length, step, out)


@njit(cache=True, nogil=True, forceinline=True)
def _short_chunks(op: int, column: Column, length: int, step: int, out: Column) -> None:
    """Four chunks at once, since each chain waits for itself; unsigned, or every access would check for a negative."""
    apart, end = np.uint64(step), np.uint64(out.size)
    k = x = np.uint64(0)
    while k + np.uint64(4) <= end:
        y, z = x + apart, x + apart + apart
        w = z + apart
        f0, f1, f2, f3 = column[x], column[y], column[z], column[w]
        for j in range(np.uint64(1), np.uint64(length)):
            f0, f1 = fuse(op, f0, column[x + j]), fuse(op, f1, column[y + j])
            f2, f3 = fuse(op, f2, column[z + j]), fuse(op, f3, column[w + j])
        out[k], out[k + np.uint64(1)], out[k + np.uint64(2)], out[k + np.uint64(3)] = f0, f1, f2, f3
        k += np.uint64(4)
        x = w + apart
    while k < end:
        fold = column[x]
        for j in range(np.uint64(1), np.uint64(length)):
            fold = fuse(op, fold, column[x + j])
        out[k] = fold
        k += np.uint64(1)
        x += apart
