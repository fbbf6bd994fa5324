"""The inner loop of long windows one row apart, as van Herk and Gil-Werman have it: suffixes of a block, prefixes of
the rows behind it, four lanes a step.

Rows k and k + 4 of a scan differ by a fold of four neighbours. So each lane scans every fourth row, and the folds of
four are made of the folds of two that the step before has left. Rows are told by their places: a view of a column for
every block would cost as much as the block.
"""

from __future__ import annotations

from typing import Any, Final

from numba import njit

from jobs.kernels.arrays import Column
from jobs.kernels.columns.operators import fuse
from jobs.kernels.columns.simd import LANES, fetch, lane, load, spread, store, straddle

BEYOND: Final = 2 * LANES  # rows that are read past a block, and not used


@njit(cache=True, nogil=True, forceinline=True)
def _first_rows(op: int, column: Column, behind: int, core: Any, stack: Column, now: int, out: Column, a: int) -> Any:
    """Answer the first four windows; the fold of the four rows behind them."""
    front = column[behind]
    out[a] = fuse(op, stack[now], core)
    for j in range(1, LANES):
        out[a + j] = fuse(op, fuse(op, stack[now + j], core), front)
        front = fuse(op, front, column[behind + j])
    return front


@njit(cache=True, nogil=True, forceinline=True)
def answer_block(
    op: int, column: Column, block: int, behind: int, core: Any, stack: Column, now: int, out: Column, a: int
) -> Any:
    """Answer the windows that start in the block at row a, and give the fold of as many rows from `behind` on.

    The stack holds the block's suffixes from `now` on, and gets those of the next block in its other half; core is what
    all the block's windows share. A block is a multiple of four, at least eight, and eight rows follow those behind it.
    """
    then, ahead = block - now, a + block
    front = _first_rows(op, column, behind, core, stack, now, out, a)
    for j in range(LANES):  # these places of the stack are free until the end
        stack[then + j] = front
        front = fuse(op, front, column[behind + LANES + j])
    fronts, cores = load(stack, then), spread(core)
    back = column[ahead + block - 1]
    stack[then + block - 1] = back
    for j in range(2, LANES + 1):
        back = fuse(op, column[ahead + block - j], back)
        stack[then + block - j] = back
    backs = load(stack, then + block - LANES)
    x = fuse(op, load(column, behind + LANES), load(column, behind + LANES + 1))
    y = fuse(op, load(column, ahead + block - LANES), load(column, ahead + block - LANES + 1))
    for k in range(LANES, block, LANES):
        store(out, a + k, fuse(op, fuse(op, load(stack, now + k), cores), fronts))
        pairs = fuse(op, load(column, behind + k + LANES), load(column, behind + k + LANES + 1))
        fronts = fuse(op, fronts, fuse(op, x, straddle(x, pairs)))
        x = pairs
        fetch(column, ahead + block + k)
        j = block - LANES - k
        pairs = fuse(op, load(column, ahead + j), load(column, ahead + j + 1))
        backs = fuse(op, fuse(op, pairs, straddle(pairs, y)), backs)
        y = pairs
        store(stack, then + j, backs)
    return lane(fronts, 0)
