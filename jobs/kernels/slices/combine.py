"""Rows of partials: those of the same key and slice are combined; columns that say nothing are told from others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from jobs.kernels.algebra.operators import COUNT, SUM_FLOAT, VALID, WIDTH, combine, two_sum_error
from jobs.kernels.arrays import Rows

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def merge_rows(op: int, rows: Rows, chosen: Ints, cell: Ints, cells: int) -> Rows:
    """out[cell[i]] is combined with rows[chosen[i]], one after another; a cell without any is null."""
    out = np.zeros((cells, WIDTH), rows.dtype)
    if op == SUM_FLOAT:
        _add_floats(rows, chosen, cell, out)
    elif op == COUNT:
        _add_counts(rows, chosen, cell, out)
    else:
        _combine(op, rows, chosen, cell, out)
    return out


@njit(cache=True, nogil=True)
def _combine(op: int, rows: Rows, chosen: Ints, cell: Ints, out: Rows) -> None:
    for i in range(chosen.size):
        combine(op, out, cell[i], rows, chosen[i], out, cell[i])


@njit(cache=True, nogil=True)
def _add_floats(rows: Rows, chosen: Ints, cell: Ints, out: Rows) -> None:
    for i in range(chosen.size):
        j, c = np.uint64(chosen[i]), np.uint64(cell[i])
        if rows[j, VALID]:
            x, y = out[c, 0], rows[j, 0]
            total = x + y
            out[c, 1] += rows[j, 1] + two_sum_error(x, y, total)
            out[c, 0] = total
            out[c, VALID] = 1


@njit(cache=True, nogil=True)
def _add_counts(rows: Rows, chosen: Ints, cell: Ints, out: Rows) -> None:
    for i in range(chosen.size):
        j, c = np.uint64(chosen[i]), np.uint64(cell[i])
        out[c, 0] += rows[j, 0]
        out[c, VALID] = 1


@njit(cache=True, nogil=True)
def telling(rows: Rows) -> Mask:
    """Which columns beside the first say something: that a number is not zero, that a row is null."""
    told = np.zeros(WIDTH, np.bool_)
    first = second = null = False
    for i in range(rows.shape[0]):
        first |= rows[i, 1] != 0
        second |= rows[i, 2] != 0
        null |= rows[i, VALID] != 1
    told[1], told[2], told[VALID] = first, second, null
    return told


@njit(cache=True, nogil=True)
def fill(rows: Rows, column: Rows) -> None:
    """Rows that are all valid, of which only the first column says something."""
    for i in range(rows.shape[0]):
        rows[i, 0] = column[i]
        rows[i, 1] = rows[i, 2] = 0
        rows[i, VALID] = 1
