"""Equal windows over a dense column, one row apart, without an inverse.

The windows that start in one block [a, a + B) all hold the core [a + B, a + width). Window a + j is the block's suffix
from j, the core, and the j rows that follow a + width: three combines a row. The core is folded from the folds of whole
blocks by two stacks.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.algebra.int_literals import ZERO
from jobs.kernels.algebra.operators import SUM_FLOAT
from jobs.kernels.arrays import Column
from jobs.kernels.columns.flips import flip
from jobs.kernels.columns.operators import (
    QUICK,
    QUICK_MAX,
    QUICK_MIN,
    fuse,
    has_nan,
    in_lanes,
    nan_between,
    quick,
    scan_back,
    total,
)
from jobs.kernels.columns.short_windows import SHORT, fold_neighbours
from jobs.kernels.columns.simd import LANES
from jobs.kernels.columns.van_herk import BEYOND, answer_block

BLOCK: Final = 512
SET_UP: Final = 64  # what a block costs beside its rows, in rows


@njit(cache=True, nogil=True)
def slide(op: int, column: Column, width: int, out: Column) -> None:
    """out[i] = the fold of column[i : i + width], for every i of out; the column ends with the last window."""
    easy = quick(op)
    if width < SHORT and in_lanes(easy):
        fold_neighbours(op, column, width, out)
        return
    block, a = _block(width), ZERO
    while in_lanes(easy) and a + width + block + BEYOND <= column.size:
        if easy != op and nan_between(column, a, a + width + block):
            flip(op, column[a:], width, out[a : a + width])
            a += min(width, out.size - a)
        else:
            a = _run(easy, column, a, width, block, out)
    if a < out.size:
        rest = column[a:]
        flip(op if has_nan(rest) else easy, rest, width, out[a:])


@njit(cache=True, nogil=True)
def _block(width: int) -> int:
    """The block length at which set-up and the part of the core that is no whole block cost least."""
    longest = min(BLOCK, (width - BEYOND) // LANES * LANES)
    best = longest
    for block in range(longest, longest // 2, -LANES):
        if (SET_UP + width % block) * best < (SET_UP + width % best) * block:
            best = block
    return best


@njit(cache=True, nogil=True)
def _run(op: int, column: Column, a: int, width: int, block: int, out: Column) -> int:
    """Answer blocks from row a on, up to the first that a NaN is in; the row where it ended."""
    if op <= SUM_FLOAT:
        return _blocks(SUM_FLOAT, column, a, width, block, out)
    if op == QUICK_MAX:
        return _blocks(QUICK_MAX, column, a, width, block, out)
    return _blocks(QUICK_MIN, column, a, width, block, out)


@njit(cache=True, nogil=True, forceinline=True)
def _blocks(op: int, column: Column, a: int, width: int, block: int, out: Column) -> int:
    code: Any = np.int64(op)  # set-up is compiled once for all operators
    fresh, back = _core(code, column[a:], block, width)
    stack = np.empty(2 * block, column.dtype)
    scan_back(code, column[a : a + block], stack[:block])
    rest, now, place = width % block, ZERO, ZERO
    front = newest = column[a]
    while a + width + block + BEYOND <= column.size:
        if fresh.size and place == fresh.size:  # flip
            scan_back(code, fresh, back)
            place = ZERO
        core = _shared(op, column, a + block, rest, fresh, back, front, place)
        newest = answer_block(op, column, block, a + width, core, stack, now, out, a)
        if op >= QUICK and nan_between(column, a + width, a + width + block):
            break
        if fresh.size:
            fresh[place] = newest
            front = newest if place == 0 else fuse(op, front, newest)
            place += 1
        now = block - now
        a += block
    return a


@njit(cache=True, nogil=True)
def _core(op: int, column: Column, block: int, width: int) -> Any:
    """Two stacks over the folds of the whole blocks of a core: those since the flip, and the suffixes at the flip."""
    fresh = np.empty(width // block - 1, column.dtype)
    for j in range(fresh.size):
        start = width % block + (j + 1) * block
        fresh[j] = total(op, column[start : start + block])
    back = np.empty_like(fresh)
    if fresh.size:
        scan_back(op, fresh, back)
    return fresh, back


@njit(cache=True, nogil=True, forceinline=True)
def _shared(op: int, column: Column, start: int, rest: int, fresh: Column, back: Column, front: Any, place: int) -> Any:
    """What all windows of a block hold: the rows that are no whole block, from start on, and the whole blocks."""
    core = column[start] if rest else back[place]
    for j in range(start + 1, start + rest):
        core = fuse(op, core, column[j])
    if fresh.size:
        core = fuse(op, core, back[place]) if rest else core
        core = fuse(op, core, front) if place else core
    return core
