"""Windows one row apart as van Herk and Gil-Werman have them: suffixes of a block, prefixes of the rows behind it.

`fold_by_flips` takes any operator, one value a step. `answer_block` is the inner loop of long windows, four values a
step: rows k and k + 4 of a scan differ by a fold of four neighbours, so each element scans every fourth row, and the
folds of four are made of the folds of two that the step before has left. Rows are told by their places: a view
of a column for every block would cost as much as the block.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.arrays import Column
from jobs.kernels.columns.operators import fold_all, fuse, scan_back
from jobs.kernels.columns.simd import VECTOR, element, fetch, load, spread, store, straddle

BEYOND: Final = 2 * VECTOR  # rows that are read past a block, and not used


@njit(cache=True, nogil=True)
def fold_by_flips(op: int, column: Column, width: int, out: Column) -> None:
    """Set out[i] to the fold of column[i : i + width], by any operator, NaN or not: one flip a window length.

    >>> out = np.empty(4)
    >>> fold_by_flips(5, np.array([3.0, np.nan, 1.0, 2.0, 0.0]), 2, out)  # MAX
    >>> out.tolist()
    [nan, nan, 2.0, 2.0]
    """
    stack = np.empty(min(width, out.size), column.dtype)
    for a in range(0, out.size, width):
        _flip_once(op, column[a:], width, stack, out[a : a + width])


@njit(cache=True, nogil=True)
def _flip_once(op: int, column: Column, width: int, stack: Column, out: Column) -> None:
    """Answer at most as many windows as one has rows; where they are fewer, they share a core."""
    scan_back(op, column[: out.size], stack[: out.size])
    if out.size < width:
        core = fold_all(op, column[out.size : width])
        for j in range(out.size):
            stack[j] = fuse(op, stack[j], core)
    out[0] = stack[0]
    front = column[width - 1]
    for j in range(1, out.size):
        front = column[width] if j == 1 else fuse(op, front, column[width + j - 1])
        out[j] = fuse(op, stack[j], front)


@njit(cache=True, nogil=True, forceinline=True)
def _first_rows(op: int, column: Column, behind: int, core: Any, stack: Column, now: int, out: Column, a: int) -> Any:
    """Answer the first four windows; return the fold of the four rows behind them."""
    front = column[behind]
    out[a] = fuse(op, stack[now], core)
    for j in range(1, VECTOR):
        out[a + j] = fuse(op, fuse(op, stack[now + j], core), front)
        front = fuse(op, front, column[behind + j])
    return front


@njit(cache=True, nogil=True, forceinline=True)
def answer_block(
    op: int, column: Column, block: int, behind: int, core: Any, stack: Column, now: int, out: Column, a: int
) -> Any:
    """Answer the windows that start in the block at row a; return the fold of as many rows from `behind` on.

    The stack holds the block's suffixes from `now` on, and gets those of the next block in its other half; core is what
    all the block's windows share. A block is a multiple of four, at least eight, and eight rows follow those behind it.

    `fold_one_row_apart` of one_row_apart.py shows an example.
    """
    then, ahead = block - now, a + block
    front = _first_rows(op, column, behind, core, stack, now, out, a)
    for j in range(VECTOR):  # these places of the stack are free until the end
        stack[then + j] = front
        front = fuse(op, front, column[behind + VECTOR + j])
    fronts, cores = load(stack, then), spread(core)
    back = column[ahead + block - 1]
    stack[then + block - 1] = back
    for j in range(2, VECTOR + 1):
        back = fuse(op, column[ahead + block - j], back)
        stack[then + block - j] = back
    backs = load(stack, then + block - VECTOR)
    x = fuse(op, load(column, behind + VECTOR), load(column, behind + VECTOR + 1))
    y = fuse(op, load(column, ahead + block - VECTOR), load(column, ahead + block - VECTOR + 1))
    for k in range(VECTOR, block, VECTOR):
        store(out, a + k, fuse(op, fuse(op, load(stack, now + k), cores), fronts))
        pairs = fuse(op, load(column, behind + k + VECTOR), load(column, behind + k + VECTOR + 1))
        fronts = fuse(op, fronts, fuse(op, x, straddle(x, pairs)))
        x = pairs
        fetch(column, ahead + block + k)
        j = block - VECTOR - k
        pairs = fuse(op, load(column, ahead + j), load(column, ahead + j + 1))
        backs = fuse(op, fuse(op, pairs, straddle(pairs, y)), backs)
        y = pairs
        store(stack, then + j, backs)
    return element(fronts, 0)
