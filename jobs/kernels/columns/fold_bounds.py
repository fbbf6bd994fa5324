"""Windows as ascending bounds of slices: regular runs of them go by dense columns, the others by two stacks.

How many combine operations two stacks take depends on the bounds alone, so they are counted without folding. A
selective operator (first, last, argmin, argmax) picks the slice of a window by the index of its row.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.algebra.operators import COUNT, LAST, MIN, SUM_FLOAT, SUM_INT, less
from jobs.kernels.arrays import ZERO, Bools, Column, Ints, int64_literal
from jobs.kernels.columns.operators import QUICK_MAX, QUICK_MIN, as_compiled, fuse, has_nan, quick_operator
from jobs.kernels.columns.rows_apart import fold_rows_apart
from jobs.kernels.columns.scratch import allocate_columns

REGULAR: Final = 256  # windows in a run that make the dense form worth its set-up
NONE: Final = int64_literal(-1)


def fold_between(op: int, column: Column, lo: Ints, hi: Ints) -> Column:
    """Return the fold of column[lo[i] : hi[i]] for every i; both bounds ascend and no window is empty.

    >>> fold_between(5, np.array([3.0, 1.0, 2.0]), np.array([0, 1]), np.array([2, 3])).tolist()  # MAX
    [3.0, 2.0]
    """
    if op in (COUNT, SUM_INT):  # integers that fit have no rounding to fear, so differences of prefix sums are exact
        sums = np.zeros(len(column) + 1, np.int64)
        np.cumsum(column, out=sums[1:])
        return sums[hi] - sums[lo]
    (out,) = allocate_columns([len(lo)], column.dtype)
    if len(lo):
        _fold_between(op, as_compiled(column), lo, hi, out)
    return out


@njit(cache=True, nogil=True)
def _fold_between(op: int, column: Column, lo: Ints, hi: Ints, out: Column) -> None:
    longest = 0
    for i in range(lo.size):
        longest = max(longest, hi[i] - lo[i])
    stack = np.empty(longest, column.dtype)
    begin = i = ZERO
    while i < lo.size:
        end, step = _regular_run(lo, hi, i)
        if end - i >= REGULAR and step > 0:
            two_stacks(op, column, lo[begin:i], hi[begin:i], stack, out[begin:i])
            fold_rows_apart(op, column[lo[i] : hi[end - 1]], hi[i] - lo[i], step, out[i:end])
            begin = end
        i = end
    two_stacks(op, column, lo[begin:], hi[begin:], stack, out[begin:])


@njit(cache=True, nogil=True)
def _regular_run(lo: Ints, hi: Ints, begin: int) -> tuple[int, int]:
    """Return where the windows that follow each other at equal steps from `begin` on end, and their step; it is 0 where
    they all hold the same slices, as in a gap of the events."""
    end = begin + 1
    if end == lo.size:
        return end, 1
    step, width = lo[end] - lo[begin], hi[begin] - lo[begin]
    while end < lo.size and lo[end] - lo[end - 1] == step and hi[end] - lo[end] == width:
        end += 1
    return end, step


@njit(cache=True, nogil=True)
def two_stacks(op: int, column: Column, lo: Ints, hi: Ints, stack: Column, out: Column) -> None:
    """Fold the windows by two stacks: when lo passes the flip point, flip at hi; a running prefix goes on from there.

    >>> out = np.empty(2)
    >>> two_stacks(5, np.array([3.0, 1.0, 2.0]), np.array([0, 1]), np.array([2, 3]), np.empty(2), out)  # MAX
    >>> out.tolist()
    [3.0, 2.0]
    """
    if lo.size == 0:
        return
    code = quick_operator(op)
    if code != op and has_nan(column[lo[0] : hi[-1]]):
        code = op
    if code <= SUM_FLOAT:
        _two_stacks(SUM_FLOAT, column, lo, hi, stack, out)
    elif code == QUICK_MIN:
        _two_stacks(QUICK_MIN, column, lo, hi, stack, out)
    elif code == QUICK_MAX:
        _two_stacks(QUICK_MAX, column, lo, hi, stack, out)
    else:
        _two_stacks(code, column, lo, hi, stack, out)


@njit(cache=True, nogil=True, forceinline=True)
def _two_stacks(op: int, column: Column, lo: Any, hi: Any, stack: Column, out: Column) -> None:
    # unsigned places, or numba checks each of them for a negative one
    base = flip = end = np.uint64(0)
    one = np.uint64(1)
    front = column[0]
    for i in range(lo.size):
        low, high = np.uint64(lo[i]), np.uint64(hi[i])
        if low >= flip:
            j = high - one
            back = column[j]
            stack[j - low] = back
            while j > low:
                j -= one
                back = fuse(op, column[j], back)
                stack[j - low] = back
            base, flip, end = low, high, high
            out[i] = back
            continue
        if end == flip and end < high:
            front = column[end]
            end += one
        while end < high:
            front = fuse(op, front, column[end])
            end += one
        out[i] = fuse(op, stack[low - base], front) if end > flip else stack[low - base]


@njit(cache=True, nogil=True)
def count_operations(lo: Ints, hi: Ints) -> int:
    """Count the operations of the windows [lo, hi): a flip joins a window's slices, a step joins new ones and answers.

    >>> count_operations(np.array([0, 1]), np.array([3, 4]))  # three slices are flipped, then one is joined
    3
    """
    total = flip = end = 0
    for i in range(lo.size):
        if lo[i] >= flip:
            total += hi[i] - lo[i] - 1
            flip = end = hi[i]
            continue
        if end == flip and end < hi[i]:
            total -= 1  # the first slice after a flip is the front itself
        total += hi[i] - end
        end = hi[i]
        total += 1 if end > flip else 0
    return total


def count_regular_operations(width: int, step: int, count: int) -> int:
    """Count the operations of `count` windows of one width, each a step behind the other.

    >>> count_regular_operations(width=3, step=1, count=2)
    3
    """
    cycle = -(-width // step)  # windows to a flip

    def of_one_cycle(windows: int) -> int:
        return width - 1 + max(0, windows - 1) * (step + 1) - (windows > 1) if windows else 0

    return count // cycle * of_one_cycle(cycle) + of_one_cycle(count % cycle)


def pick_rows(op: int, order: Column, lo: Ints, hi: Ints, valid: Bools | None = None) -> Ints:
    """Return the slice with the least (MIN) or largest order in each window [lo, hi), -1 where all are null.

    A tie goes to the earlier slice, and to the later one for LAST.

    >>> pick_rows(MIN, np.array([3.0, 1.0, 1.0]), np.array([0, 1]), np.array([2, 3])).tolist()
    [1, 1]
    """
    out = np.empty(len(lo), np.int64)
    if len(lo):
        valid = np.ones(len(order), np.bool_) if valid is None else valid
        _pick_rows(op, order, valid, lo, hi, np.empty(int((hi - lo).max()), np.int64), out)
    return out


@njit(cache=True, nogil=True, forceinline=True)
def _better(op: int, order: Column, i: int, j: int) -> int:
    """Return the one of two slices, i before j, that the operator picks; NONE is no slice."""
    if i < 0:
        return j
    if j < 0:
        return i
    if op == MIN:
        right = less(order[j], order[i])
    elif op == LAST:
        right = not less(order[j], order[i])
    else:
        right = less(order[i], order[j])
    return j if right else i


@njit(cache=True, nogil=True)
def _pick_rows(op: int, order: Column, valid: Bools, lo: Ints, hi: Ints, stack: Ints, out: Ints) -> None:
    base = flip = end = 0
    front = NONE
    for i in range(lo.size):
        low, high = lo[i], hi[i]
        if low >= flip:
            back = NONE
            for j in range(high - 1, low - 1, -1):
                back = _better(op, order, j if valid[j] else NONE, back)
                stack[j - low] = back
            base, flip, end = low, high, high
            front = NONE
            out[i] = back
        else:
            while end < high:
                front = _better(op, order, front, end if valid[end] else NONE)
                end += 1
            out[i] = _better(op, order, stack[low - base], front)
