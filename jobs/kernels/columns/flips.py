"""Equal windows one row apart by any operator, NaN or not: suffixes and a running prefix, one flip a window length."""

from __future__ import annotations

import numpy as np
from numba import njit

from jobs.kernels.arrays import Column
from jobs.kernels.columns.operators import fuse, scan_back, total


@njit(cache=True, nogil=True)
def flip(op: int, column: Column, width: int, out: Column) -> None:
    """out[i] = the fold of column[i : i + width]."""
    stack = np.empty(min(width, out.size), column.dtype)
    for a in range(0, out.size, width):
        _flip_once(op, column[a:], width, stack, out[a : a + width])


@njit(cache=True, nogil=True)
def _flip_once(op: int, column: Column, width: int, stack: Column, out: Column) -> None:
    """At most as many windows as one has rows; those fewer share a core."""
    scan_back(op, column[: out.size], stack[: out.size])
    if out.size < width:
        core = total(op, column[out.size : width])
        for j in range(out.size):
            stack[j] = fuse(op, stack[j], core)
    out[0] = stack[0]
    front = column[width - 1]
    for j in range(1, out.size):
        front = column[width] if j == 1 else fuse(op, front, column[width + j - 1])
        out[j] = fuse(op, stack[j], front)
