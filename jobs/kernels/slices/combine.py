"""Combine the rows of partials that have the same key and slice, and tell the columns that say something."""

from __future__ import annotations

import numpy as np
from numba import njit

from jobs.kernels.algebra.operators import COUNT, SUM_FLOAT, VALID, WIDTH, combine, two_sum_error
from jobs.kernels.arrays import Bools, Ints, Rows


def merge_rows(op: int, rows: Rows, places: Ints, cell: Ints, cells: int) -> Rows:
    """Combine rows[places[i]] into the cell cell[i], one after another; a cell without any is null.

    >>> rows = np.array([[3.0, 0, 0, 1], [1.0, 0, 0, 1], [5.0, 0, 0, 1]])
    >>> merge_rows(SUM_FLOAT, rows, np.array([0, 2]), np.array([1, 1]), 2).tolist()
    [[0.0, 0.0, 0.0, 0.0], [8.0, 0.0, 0.0, 1.0]]
    """
    out = np.zeros((cells, rows.shape[1]), rows.dtype)
    if op == SUM_FLOAT:
        _add_floats(rows, places, cell, out)
    elif op == COUNT:
        _add_counts(rows, places, cell, out)
    else:
        _combine(op, rows, places, cell, out)
    return out


@njit(cache=True, nogil=True)
def _combine(op: int, rows: Rows, places: Ints, cell: Ints, out: Rows) -> None:
    for i in range(places.size):
        combine(op, out, cell[i], rows, places[i], out, cell[i])


@njit(cache=True, nogil=True)
def _add_floats(rows: Rows, places: Ints, cell: Ints, out: Rows) -> None:
    for i in range(places.size):
        j, c = np.uint64(places[i]), np.uint64(cell[i])
        if rows[j, VALID]:
            x, y = out[c, 0], rows[j, 0]
            total = x + y
            out[c, 1] += rows[j, 1] + two_sum_error(x, y, total)
            out[c, 0] = total
            out[c, VALID] = 1


@njit(cache=True, nogil=True)
def _add_counts(rows: Rows, places: Ints, cell: Ints, out: Rows) -> None:
    for i in range(places.size):
        j, c = np.uint64(places[i]), np.uint64(cell[i])
        out[c, 0] += rows[j, 0]
        out[c, VALID] = 1


@njit(cache=True, nogil=True)
def informative_columns(rows: Rows) -> Bools:
    """Return which columns beside the first say something: that a number is not zero, that a row is null.

    >>> informative_columns(np.array([[7.0, 0, 0, 1], [8.0, 0.5, 0, 1]])).tolist()
    [False, True, False, False]
    """
    informative = np.zeros(rows.shape[1], np.bool_)
    first = second = null = False
    for i in range(rows.shape[0]):
        first |= rows[i, 1] != 0
        second |= rows[i, 2] != 0
        null |= rows[i, VALID] != 1
    informative[1], informative[2], informative[VALID] = first, second, null
    for column in range(WIDTH, rows.shape[1]):
        informative[column] = np.any(rows[:, column] != 0)
    return informative


@njit(cache=True, nogil=True)
def fill_valid_rows(rows: Rows, column: Rows) -> None:
    """Fill rows that are all valid, and of which only the first column says something.

    >>> rows = np.empty((2, 4))
    >>> fill_valid_rows(rows, np.array([7.0, 8.0]))
    >>> rows.tolist()
    [[7.0, 0.0, 0.0, 1.0], [8.0, 0.0, 0.0, 1.0]]
    """
    for i in range(rows.shape[0]):
        rows[i, 0] = column[i]
        rows[i, 1:] = 0
        rows[i, VALID] = 1
