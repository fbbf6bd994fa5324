"""Fold a column of events into the rows of their cells (one cell per key and slice), component by component.

Rows of partials that have the same key and slice are combined, and the columns that say something are told apart.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from jobs.kernels.algebra.operators import (
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    CENTRAL_MOMENTS,
    CO_MOMENTS,
    COUNT,
    LAST,
    LIMB_BITS,
    LIMB_MASK,
    MAX,
    MIN,
    MOMENTS,
    PRODUCT,
    SUM_FLOAT,
    SUM_INT,
    VALID,
    WIDTH,
    combine,
    less,
    merge_means,
    two_sum_error,
    width_of,
)
from jobs.kernels.arrays import Bools, Ints, Rows, read_only


def accumulate(
    op: int,
    cells: int,
    cell: Ints,
    values: Rows,
    valid: Bools | None,
    places: bool = True,
    others: Rows | None = None,
) -> Rows:
    """Return the rows of every cell; `cell` says which one an event falls into.

    The payload of a selective row is the place of the event that it comes from; without `places` it is left out.
    `others` are the second values of pairs.

    >>> accumulate(MAX, 2, np.array([0, 1, 0]), np.array([3.0, 1.0, 5.0]), None).tolist()
    [[5.0, 2.0, 0.0, 1.0], [1.0, 1.0, 0.0, 1.0]]
    """
    integer = op in (COUNT, SUM_INT, BIT_AND, BIT_OR, BIT_XOR) or values.dtype.kind == "i"
    rows = np.zeros((cells, width_of(op)), np.int64 if integer else np.float64)
    if op == COUNT:
        counted_cell = cell if valid is None else cell[valid]
        rows[:, 0] = np.bincount(counted_cell, minlength=cells)
        rows[:, VALID] = 1
        return rows
    mask = read_only(np.ones(0, np.bool_) if valid is None else valid)
    cell, values = read_only(cell), read_only(values)
    if op == CO_MOMENTS:
        _fold_co_moments(rows, cell, values, values if others is None else read_only(others), mask)
    elif op in (MIN, MAX) and not places:
        _fold_extreme(op, rows, cell, values, mask)
    elif op in (MIN, MAX, LAST):
        _fold_selective(op, rows, cell, values, mask)
    else:
        _FOLDS[op](rows, cell, values, mask)
    return rows


@njit(cache=True, nogil=True)
def _fold_sum_float(rows: Rows, cell: Ints, values: Rows, valid: Bools) -> None:
    every = valid.size == 0
    for i in range(cell.size):
        if every or valid[i]:
            c = cell[i]
            total = rows[c, 0] + values[i]
            rows[c, 1] += two_sum_error(rows[c, 0], values[i], total)
            rows[c, 0] = total
            rows[c, VALID] = 1


@njit(cache=True, nogil=True)
def _fold_sum_int(rows: Rows, cell: Ints, values: Rows, valid: Bools) -> None:
    every = valid.size == 0
    for i in range(cell.size):
        if every or valid[i]:
            c = cell[i]
            low = rows[c, 1] + (values[i] & LIMB_MASK)
            rows[c, 0] += (values[i] >> LIMB_BITS) + (low >> LIMB_BITS)
            rows[c, 1] = low & LIMB_MASK
            rows[c, VALID] = 1


@njit(cache=True, nogil=True)
def _fold_product(rows: Rows, cell: Ints, values: Rows, valid: Bools) -> None:
    every = valid.size == 0
    for i in range(cell.size):
        if every or valid[i]:
            c = cell[i]
            rows[c, 0] = rows[c, 0] * values[i] if rows[c, VALID] else values[i]
            rows[c, VALID] = 1


@njit(cache=True, nogil=True)
def _fold_moments(rows: Rows, cell: Ints, values: Rows, valid: Bools) -> None:
    every = valid.size == 0
    for i in range(cell.size):
        if every or valid[i]:
            c = cell[i]
            rows[c, 0] += 1
            delta = values[i] - rows[c, 1]
            rows[c, 1] += delta / rows[c, 0]
            rows[c, 2] += delta * (values[i] - rows[c, 1])
            rows[c, VALID] = 1


@njit(cache=True, nogil=True)
def _fold_central_moments(rows: Rows, cell: Ints, values: Rows, valid: Bools) -> None:
    every = valid.size == 0
    for i in range(cell.size):
        if every or valid[i]:
            c = cell[i]
            n = rows[c, 0] + 1
            delta = values[i] - rows[c, 1]
            part = delta / n
            m2, m3 = rows[c, 2], rows[c, 4]
            rest = delta * (delta - part)
            rows[c, 0] = n
            rows[c, 1] += part
            rows[c, 2] = m2 + rest
            rows[c, 4] = m3 - 3.0 * part * (m2 + rest) + delta * (delta * delta - part * part)
            rows[c, 5] += delta * (delta * delta * delta - part * part * part) - 6.0 * part * part * (m2 + rest)
            rows[c, 5] -= 4.0 * part * rows[c, 4]
            rows[c, VALID] = 1


@njit(cache=True, nogil=True)
def _fold_co_moments(rows: Rows, cell: Ints, values: Rows, others: Rows, valid: Bools) -> None:
    every = valid.size == 0
    for i in range(cell.size):
        if every or valid[i]:
            c = cell[i]
            n = rows[c, 0] + 1
            dx, dy = values[i] - rows[c, 1], others[i] - rows[c, 2]
            rows[c, 0] = n
            rows[c, 1] = merge_means(rows[c, 1], values[i], 1.0 / n) if n > 1 else values[i]
            rows[c, 2] = merge_means(rows[c, 2], others[i], 1.0 / n) if n > 1 else others[i]
            rows[c, 4] += dx * (others[i] - rows[c, 2])
            rows[c, 5] += dx * (values[i] - rows[c, 1])
            rows[c, 6] += dy * (others[i] - rows[c, 2])
            rows[c, VALID] = 1


@njit(cache=True, nogil=True)
def _fold_bit_xor(rows: Rows, cell: Ints, values: Rows, valid: Bools) -> None:
    every = valid.size == 0
    for i in range(cell.size):
        if every or valid[i]:
            rows[cell[i], 0] ^= values[i]
            rows[cell[i], VALID] = 1


@njit(cache=True, nogil=True)
def _fold_bit_and(rows: Rows, cell: Ints, values: Rows, valid: Bools) -> None:
    every = valid.size == 0
    for i in range(cell.size):
        if every or valid[i]:
            c = cell[i]
            rows[c, 0] = rows[c, 0] & values[i] if rows[c, VALID] else values[i]
            rows[c, VALID] = 1


@njit(cache=True, nogil=True)
def _fold_bit_or(rows: Rows, cell: Ints, values: Rows, valid: Bools) -> None:
    every = valid.size == 0
    for i in range(cell.size):
        if every or valid[i]:
            c = cell[i]
            rows[c, 0] |= values[i]
            rows[c, VALID] = 1


@njit(cache=True, nogil=True)
def _fold_extreme(op: int, rows: Rows, cell: Ints, values: Rows, valid: Bools) -> None:
    # without a branch: which of two random values is the larger one, no processor can guess
    every = valid.size == 0
    for i in range(cell.size):
        if every or valid[i]:
            c = np.uint64(cell[i])
            best, value = rows[c, 0], values[i]
            low, high = (value, best) if op == MIN else (best, value)
            better = (rows[c, VALID] == 0) | (low < high) | ((high != high) & (low == low))
            rows[c, 0] = value if better else best
            rows[c, VALID] = 1


@njit(cache=True, nogil=True)
def _fold_selective(op: int, rows: Rows, cell: Ints, values: Rows, valid: Bools) -> None:
    every = valid.size == 0
    for i in range(cell.size):
        if not (every or valid[i]):
            continue
        c = cell[i]
        best, value = rows[c, 0], values[i]
        if rows[c, VALID]:
            better = less(value, best) if op == MIN else less(best, value) if op == MAX else not less(value, best)
            if not better:
                continue
        rows[c, 0] = value
        rows[c, 1] = i
        rows[c, VALID] = 1


_FOLDS = {
    SUM_FLOAT: _fold_sum_float,
    SUM_INT: _fold_sum_int,
    PRODUCT: _fold_product,
    MOMENTS: _fold_moments,
    CENTRAL_MOMENTS: _fold_central_moments,
    BIT_XOR: _fold_bit_xor,
    BIT_AND: _fold_bit_and,
    BIT_OR: _fold_bit_or,
}


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
    elif op == SUM_INT:
        _add_ints(rows, places, cell, out)
    elif op in (MIN, MAX):
        _pick_extremes(op, rows, places, cell, out)
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
def _add_ints(rows: Rows, places: Ints, cell: Ints, out: Rows) -> None:
    for i in range(places.size):
        j, c = np.uint64(places[i]), np.uint64(cell[i])
        if rows[j, VALID]:
            low = out[c, 1] + rows[j, 1]
            out[c, 0] += rows[j, 0] + (low >> LIMB_BITS)
            out[c, 1] = low & LIMB_MASK
            out[c, VALID] = 1


@njit(cache=True, nogil=True)
def _pick_extremes(op: int, rows: Rows, places: Ints, cell: Ints, out: Rows) -> None:
    # as in _fold_extreme, without a branch; a tie goes to the earlier row
    for i in range(places.size):
        j, c = np.uint64(places[i]), np.uint64(cell[i])
        best, value = out[c, 0], rows[j, 0]
        low, high = (value, best) if op == MIN else (best, value)
        better = (rows[j, VALID] != 0) & ((out[c, VALID] == 0) | (low < high) | ((high != high) & (low == low)))
        out[c, 0] = value if better else best
        out[c, 1] = rows[j, 1] if better else out[c, 1]
        out[c, VALID] = 1 if better else out[c, VALID]


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


def fill_valid_rows(rows: Rows, column: Rows) -> None:
    """Fill rows that are all valid, and of which only the first column says something.

    >>> rows = np.empty((2, 4))
    >>> fill_valid_rows(rows, np.array([7.0, 8.0]))
    >>> rows.tolist()
    [[7.0, 0.0, 0.0, 1.0], [8.0, 0.0, 0.0, 1.0]]
    """
    _fill_valid_rows(rows, read_only(column))


@njit(cache=True, nogil=True)
def _fill_valid_rows(rows: Rows, column: Rows) -> None:
    for i in range(rows.shape[0]):
        rows[i, 0] = column[i]
        rows[i, 1:] = 0
        rows[i, VALID] = 1
