"""Which slice a selective operator picks in every window: first, last, argmin and argmax by the index of their row."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from jobs.kernels.algebra.operators import LAST, MIN, less
from jobs.kernels.arrays import Bools, Column, Ints, int64_literal

NONE: Final = int64_literal(-1)


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
