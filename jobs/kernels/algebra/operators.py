"""Partials as rows of four columns or more, and the one `combine` of all components, chosen by an integer op code.

Columns 0 to 2 hold the partial, column 3 is 1 when it is valid; what needs more room has its other columns behind it.
A row that is not valid is both the null of SQL (a slice whose values are all null) and the identity of every operator.
Rows are float64 or int64:

| op                         | columns                                                                     |
|----------------------------|-----------------------------------------------------------------------------|
| COUNT                      | count                                                                       |
| SUM_INT                    | high and low limb: sum = high * 2**32 + low, 0 <= low < 2**32               |
| SUM_FLOAT                  | sum, rounding error of the sum (TwoSum)                                     |
| PRODUCT                    | product; a double, as Spark's                                               |
| MIN, MAX, LAST (selective) | order, payload: the index of a row of the caller's column (argmin, first..) |
| BIT_AND, BIT_OR, BIT_XOR   | bits; a boolean is 0 or 1                                                   |
| MOMENTS                    | count, mean, M2 (Chan et al.)                                               |
| CENTRAL_MOMENTS            | count, mean, M2; M3, M4                                                     |
| CO_MOMENTS                 | count, mean of x, mean of y; co-moment, M2 of x, M2 of y                    |
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from jobs.kernels.arrays import Bools, Rows, compile_in_place

WIDTH: Final = 4
VALID: Final = 3
LIMB_BITS: Final = 32
LIMB_MASK: Final = (1 << 32) - 1

COUNT: Final = 0
SUM_INT: Final = 1
SUM_FLOAT: Final = 2
PRODUCT: Final = 3
MIN: Final = 4
MAX: Final = 5
LAST: Final = 6
BIT_AND: Final = 7
BIT_OR: Final = 8
MOMENTS: Final = 9
BIT_XOR: Final = 10
CENTRAL_MOMENTS: Final = 11
CO_MOMENTS: Final = 12

# the columns that hold the partial of an operator, where there are several that all windows need
VALUE_COLUMNS: dict[int, tuple[int, ...]] = {
    MOMENTS: (0, 1, 2),
    CENTRAL_MOMENTS: (0, 1, 2, 4, 5),
    CO_MOMENTS: (0, 1, 2, 4, 5, 6),
}

# (component, kind of its values) -> op code; the kind is "int64" or "float64"
OPS: dict[tuple[str, str], int] = {
    ("count", "int64"): COUNT,
    ("sum", "int64"): SUM_INT,
    ("sum", "float64"): SUM_FLOAT,
    ("sum_squares", "int64"): SUM_INT,
    ("sum_squares", "float64"): SUM_FLOAT,
    ("product", "float64"): PRODUCT,
    ("min", "int64"): MIN,
    ("min", "float64"): MIN,
    ("max", "int64"): MAX,
    ("max", "float64"): MAX,
    ("bool_and", "int64"): BIT_AND,
    ("bool_or", "int64"): BIT_OR,
    ("bit_and", "int64"): BIT_AND,
    ("bit_or", "int64"): BIT_OR,
    ("first", "int64"): MIN,
    ("last", "int64"): LAST,
    ("argmin", "int64"): MIN,
    ("argmin", "float64"): MIN,
    ("argmax", "int64"): MAX,
    ("argmax", "float64"): MAX,
    ("bit_xor", "int64"): BIT_XOR,
    ("moments", "float64"): MOMENTS,
    ("central_moments", "float64"): CENTRAL_MOMENTS,
    ("co_moments", "float64"): CO_MOMENTS,
}


def width_of(op: int) -> int:
    """Return how many columns the rows of an operator have.

    >>> width_of(MAX), width_of(CO_MOMENTS)
    (4, 7)
    """
    return max(VALUE_COLUMNS.get(op, (VALID,))[-1], VALID) + 1


@njit(cache=True)
def less(x: float, y: float) -> bool:
    """Say whether x comes before y in Spark's order: NaN equals NaN and is above every number, -0.0 equals 0.0.

    >>> less(1.0, 2.0), less(2.0, np.nan), less(np.nan, np.nan), less(-0.0, 0.0)
    (True, True, False, False)
    """
    return x < y or (y != y and x == x)


@njit(cache=True)
def two_sum_error(x: float, y: float, total: float) -> float:
    """Return what x + y lost when it was rounded to total (Knuth's TwoSum); nothing when the total is not finite.

    >>> two_sum_error(1e16, 1.0, 1e16 + 1.0)
    1.0
    """
    # an infinite total would make the error NaN, and NaN would outlive the infinity that caused it
    if total - total != 0.0:
        return 0.0
    part = total - x
    return (x - (total - part)) + (y - part)


@compile_in_place
def selects_right(op: int, a: Rows, i: int, b: Rows, j: int) -> bool:
    """Say whether a selective operator picks row j of b over the earlier row i of a; a tie goes to i, except LAST's.

    >>> rows = lift(MAX, np.array([5.0, 7.0, 7.0]))
    >>> [selects_right(op, rows, i, rows, i + 1) for op in (MIN, MAX, LAST) for i in (0, 1)]
    [False, False, True, False, True, True]
    """
    if op == MIN:
        return less(b[j, 0], a[i, 0])
    if op == MAX:
        return less(a[i, 0], b[j, 0])
    return not less(b[j, 0], a[i, 0])


@compile_in_place
def copy_row(a: Rows, i: int, out: Rows, k: int) -> None:
    """Copy row i of a into row k of out.

    >>> rows = lift(MAX, np.array([5.0, 7.0]))
    >>> copy_row(rows, 1, rows, 0)
    >>> rows[0].tolist()
    [7.0, 1.0, 0.0, 1.0]
    """
    out[k, 0] = a[i, 0]
    out[k, 1] = a[i, 1]
    out[k, 2] = a[i, 2]
    out[k, 3] = a[i, 3]
    for column in range(WIDTH, a.shape[1]):
        out[k, column] = a[i, column]


@compile_in_place
def clear_row(out: Rows, k: int) -> None:
    """Set row k of out to the identity of every operator, which is also the null.

    >>> rows = lift(MAX, np.array([5.0]))
    >>> clear_row(rows, 0)
    >>> rows.tolist()
    [[0.0, 0.0, 0.0, 0.0]]
    """
    out[k, :] = 0


@compile_in_place
def _sum_int(a: Rows, i: int, b: Rows, j: int, out: Rows, k: int) -> None:
    low = np.int64(a[i, 1]) + np.int64(b[j, 1])
    out[k, 0] = np.int64(a[i, 0]) + np.int64(b[j, 0]) + (low >> LIMB_BITS)
    out[k, 1] = low & LIMB_MASK


@compile_in_place
def _sum_float(a: Rows, i: int, b: Rows, j: int, out: Rows, k: int) -> None:
    x, y = a[i, 0], b[j, 0]
    total = x + y
    error = a[i, 1] + b[j, 1] + two_sum_error(x, y, total)
    out[k, 0] = total
    out[k, 1] = error


@compile_in_place
def _moments(a: Rows, i: int, b: Rows, j: int, out: Rows, k: int) -> None:
    na, nb = a[i, 0], b[j, 0]
    n = na + nb
    delta = b[j, 1] - a[i, 1]
    mean = a[i, 1] + delta * nb / n
    m2 = a[i, 2] + b[j, 2] + delta * (delta * na * nb / n)
    out[k, 0] = n
    out[k, 1] = mean
    out[k, 2] = m2


@compile_in_place
def _central_moments(a: Rows, i: int, b: Rows, j: int, out: Rows, k: int) -> None:
    na, nb = a[i, 0], b[j, 0]
    n = na + nb
    delta = b[j, 1] - a[i, 1]
    part = delta / n
    a2, b2, a3, b3 = a[i, 2], b[j, 2], a[i, 4], b[j, 4]
    square = part * part
    m4 = a[i, 5] + b[j, 5] + square * part * delta * na * nb * (na * na - na * nb + nb * nb)
    m4 += 6.0 * square * (na * na * b2 + nb * nb * a2) + 4.0 * part * (na * b3 - nb * a3)
    m3 = a3 + b3 + square * delta * na * nb * (na - nb) + 3.0 * part * (na * b2 - nb * a2)
    out[k, 0] = n
    out[k, 1] = a[i, 1] + part * nb
    out[k, 2] = a2 + b2 + delta * part * na * nb
    out[k, 4] = m3
    out[k, 5] = m4


@njit(cache=True)
def merge_means(a: float, b: float, share: float) -> float:
    """Return the mean of two means, where the second has this share; an infinity stays, as in a sum.

    >>> merge_means(1.0, 4.0, 0.25), merge_means(np.inf, np.inf, 0.5), merge_means(np.inf, 1.0, 0.5)
    (1.75, inf, inf)
    """
    if a - a == 0.0 and b - b == 0.0:
        return a + (b - a) * share
    return a + b


@compile_in_place
def _co_moments(a: Rows, i: int, b: Rows, j: int, out: Rows, k: int) -> None:
    na, nb = a[i, 0], b[j, 0]
    n = na + nb
    dx, dy = b[j, 1] - a[i, 1], b[j, 2] - a[i, 2]
    x, y, share = merge_means(a[i, 1], b[j, 1], nb / n), merge_means(a[i, 2], b[j, 2], nb / n), na * nb / n
    out[k, 4] = a[i, 4] + b[j, 4] + dx * dy * share
    out[k, 5] = a[i, 5] + b[j, 5] + dx * dx * share
    out[k, 6] = a[i, 6] + b[j, 6] + dy * dy * share
    out[k, 0] = n
    out[k, 1] = x
    out[k, 2] = y


@compile_in_place
def combine(op: int, a: Rows, i: int, b: Rows, j: int, out: Rows, k: int) -> None:
    """Set row k of out to a[i] combined with b[j], in this order; out may be a or b.

    >>> rows = lift(MOMENTS, np.array([1.0, 3.0]))
    >>> combine(MOMENTS, rows, 0, rows, 1, rows, 0)
    >>> rows[0].tolist()  # count, mean, M2, valid
    [2.0, 2.0, 2.0, 1.0]
    """
    if a[i, VALID] == 0:
        copy_row(b, j, out, k)
        return
    if b[j, VALID] == 0:
        copy_row(a, i, out, k)
        return
    if MIN <= op <= LAST and selects_right(op, a, i, b, j):
        copy_row(b, j, out, k)
    elif MIN <= op <= LAST:
        copy_row(a, i, out, k)
    elif op == SUM_FLOAT:
        _sum_float(a, i, b, j, out, k)
    elif op == SUM_INT:
        _sum_int(a, i, b, j, out, k)
    elif op == COUNT:
        out[k, 0] = a[i, 0] + b[j, 0]
    elif op == PRODUCT:
        out[k, 0] = a[i, 0] * b[j, 0]
    elif op == MOMENTS:
        _moments(a, i, b, j, out, k)
    elif op == CENTRAL_MOMENTS:
        _central_moments(a, i, b, j, out, k)
    elif op == CO_MOMENTS:
        _co_moments(a, i, b, j, out, k)
    elif op == BIT_AND:
        out[k, 0] = np.int64(a[i, 0]) & np.int64(b[j, 0])
    elif op == BIT_XOR:
        out[k, 0] = np.int64(a[i, 0]) ^ np.int64(b[j, 0])
    else:
        out[k, 0] = np.int64(a[i, 0]) | np.int64(b[j, 0])
    out[k, VALID] = 1


def lift(op: int, values: Rows, valid: Bools | None = None, payload: Rows | None = None) -> Rows:
    """Return rows of single values, a slice of one event each; the payload is the row's index unless one is passed,
    and the other value of a pair, which is the same one unless it is passed.

    >>> lift(SUM_INT, np.array([7, -1]), np.array([True, False])).tolist()
    [[0, 7, 0, 1], [0, 0, 0, 0]]
    """
    kind = np.int64 if op in (COUNT, SUM_INT, BIT_AND, BIT_OR, BIT_XOR) else values.dtype
    rows = np.zeros((len(values), width_of(op)), kind)
    rows[:, VALID] = 1 if valid is None else valid
    rows[:, 0] = values
    if op == SUM_INT:
        rows[:, 0] = values >> LIMB_BITS
        rows[:, 1] = values & LIMB_MASK
    elif op in (MIN, MAX, LAST):
        rows[:, 1] = np.arange(len(values)) if payload is None else payload
    elif op == MOMENTS:
        rows[:, 0] = 1
        rows[:, 1] = values
        rows[:, 2] = _spread(values)
    elif op == CENTRAL_MOMENTS:
        rows[:, 0] = 1
        rows[:, 1] = values
        rows[:, 2] = rows[:, 4] = rows[:, 5] = _spread(values)
    elif op == CO_MOMENTS:
        other = values if payload is None else payload
        rows[:, 0] = 1
        rows[:, 1], rows[:, 2] = values, other
        rows[:, 4], rows[:, 5], rows[:, 6] = _spread(values) + _spread(other), _spread(values), _spread(other)
    rows[rows[:, VALID] == 0] = 0
    if op == COUNT:
        rows[:, VALID] = 1  # a count is never null: of no value it is 0
    return rows


def _spread(values: Rows) -> Rows:
    """Return x - x: 0, or NaN of an infinity, as Spark computes it."""
    return np.where(np.isfinite(values), 0.0, np.nan)


def lower(op: int, rows: Rows) -> tuple[Rows, Bools, Bools]:
    """Return the values of rows, which of them are valid (the others are null), and which overflow int64.

    >>> values, valid, overflow = lower(SUM_INT, np.array([[0, 7, 0, 1], [1 << 31, 0, 0, 1], [0, 0, 0, 0]]))
    >>> values.tolist(), valid.tolist(), overflow.tolist()
    ([7, 0, 0], [True, True, False], [False, True, False])
    """
    valid = rows[:, VALID] != 0
    overflow = np.zeros(len(rows), np.bool_)
    values = rows[:, 0]
    if op == SUM_FLOAT:
        values = rows[:, 0] + rows[:, 1]
    elif op == SUM_INT:
        high = rows[:, 0]
        overflow = (high >= 1 << 31) | (high < -(1 << 31))
        values = (np.where(overflow, 0, high) << LIMB_BITS) + rows[:, 1]
    return values, valid, overflow
