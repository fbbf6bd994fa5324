"""Windows as ascending ranges of slices: the regular runs among them go by dense columns, the others by two stacks."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.algebra.int_literals import ZERO
from jobs.kernels.algebra.operators import SUM_FLOAT
from jobs.kernels.arrays import Column, Ints
from jobs.kernels.columns.operators import QUICK_MAX, QUICK_MIN, compiled_for, fuse, has_nan, quick
from jobs.kernels.columns.rows_apart import hop
from jobs.kernels.columns.scratch import room

REGULAR: Final = 256  # windows in a run that make the dense form worth its set-up


def fold_ranges(op: int, column: Column, lo: Ints, hi: Ints) -> Column:
    """The fold of column[lo[i] : hi[i]] for every i; both bounds ascend and no range is empty."""
    (out,) = room([len(lo)], column.dtype)
    if len(lo):
        _fold_ranges(op, compiled_for(column), lo, hi, out)
    return out


@njit(cache=True, nogil=True)
def _fold_ranges(op: int, column: Column, lo: Ints, hi: Ints, out: Column) -> None:
    longest = 0
    for i in range(lo.size):
        longest = max(longest, hi[i] - lo[i])
    stack = np.empty(longest, column.dtype)
    begin = i = ZERO
    while i < lo.size:
        end, step = _run(lo, hi, i)
        if end - i >= REGULAR:
            two_stacks(op, column, lo[begin:i], hi[begin:i], stack, out[begin:i])
            hop(op, column[lo[i] : hi[end - 1]], hi[i] - lo[i], step, out[i:end])
            begin = end
        i = end
    two_stacks(op, column, lo[begin:], hi[begin:], stack, out[begin:])


@njit(cache=True, nogil=True)
def _run(lo: Ints, hi: Ints, begin: int) -> tuple[int, int]:
    """Where the windows that follow each other at equal steps from begin on end, and their step."""
    end = begin + 1
    if end == lo.size:
        return end, 1
    step, width = lo[end] - lo[begin], hi[begin] - lo[begin]
    while end < lo.size and lo[end] - lo[end - 1] == step and hi[end] - lo[end] == width:
        end += 1
    return (end, step) if step > 0 else (end, 1)


@njit(cache=True, nogil=True)
def two_stacks(op: int, column: Column, lo: Ints, hi: Ints, stack: Column, out: Column) -> None:
    """When lo passes the flip point, flip at hi: suffixes run back to lo, then a running prefix goes on."""
    if lo.size == 0:
        return
    code = quick(op)
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
