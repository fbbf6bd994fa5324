"""Equal windows over a dense column, one row apart, without an inverse.

The windows that start in one block [a, a + B) all hold the core [a + B, a + width). Window a + j is the block's suffix
from j, the core, and the j rows that follow a + width: three combines a row. The core is folded from the folds of whole
blocks by two stacks.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.algebra.operators import SUM_FLOAT
from jobs.kernels.arrays import ZERO, Column
from jobs.kernels.columns.operators import (
    QUICK,
    QUICK_MAX,
    QUICK_MIN,
    fold_all,
    fuse,
    has_nan,
    has_nan_between,
    is_vectorized,
    quick_operator,
    scan_back,
)
from jobs.kernels.columns.short_windows import SHORT, fold_short_windows
from jobs.kernels.columns.simd import VECTOR
from jobs.kernels.columns.van_herk import BEYOND, answer_block, fold_by_flips

BLOCK: Final = 512
SET_UP: Final = 64  # what a block costs beside its rows, in rows


@njit(cache=True, nogil=True)
def fold_one_row_apart(op: int, column: Column, width: int, out: Column) -> None:
    """Set out[i] to the fold of column[i : i + width], for every i of out; the column ends with the last window.

    >>> out = np.empty(3)
    >>> fold_one_row_apart(5, np.array([3.0, 1.0, 2.0, 0.0]), 2, out)  # MAX
    >>> out.tolist()
    [3.0, 2.0, 2.0]
    """
    quick = quick_operator(op)
    if width < SHORT and is_vectorized(quick):
        fold_short_windows(op, column, width, out)
        return
    block, a = _choose_block(width), ZERO
    while is_vectorized(quick) and a + width + block + BEYOND <= column.size:
        if quick != op and has_nan_between(column, a, a + width + block):
            fold_by_flips(op, column[a:], width, out[a : a + width])
            a += min(width, out.size - a)
        else:
            a = _answer_blocks(quick, column, a, width, block, out)
    if a < out.size:
        rest = column[a:]
        fold_by_flips(op if has_nan(rest) else quick, rest, width, out[a:])


@njit(cache=True, nogil=True)
def _choose_block(width: int) -> int:
    """Choose the block length at which set-up and the part of the core that is no whole block cost least."""
    longest = min(BLOCK, (width - BEYOND) // VECTOR * VECTOR)
    best = longest
    for block in range(longest, longest // 2, -VECTOR):
        if (SET_UP + width % block) * best < (SET_UP + width % best) * block:
            best = block
    return best


@njit(cache=True, nogil=True)
def _answer_blocks(op: int, column: Column, a: int, width: int, block: int, out: Column) -> int:
    """Answer blocks from row a on, up to the first that a NaN is in; return the row where it ended."""
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
        if op >= QUICK and has_nan_between(column, a + width, a + width + block):
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
    """Make two stacks over the folds of a core's whole blocks: those since the flip, and the suffixes at the flip."""
    fresh = np.empty(width // block - 1, column.dtype)
    for j in range(fresh.size):
        start = width % block + (j + 1) * block
        fresh[j] = fold_all(op, column[start : start + block])
    back = np.empty_like(fresh)
    if fresh.size:
        scan_back(op, fresh, back)
    return fresh, back


@njit(cache=True, nogil=True, forceinline=True)
def _shared(op: int, column: Column, start: int, rest: int, fresh: Column, back: Column, front: Any, place: int) -> Any:
    """Fold what all windows of a block hold: the rows that are no whole block, from start on, and the whole blocks."""
    core = column[start] if rest else back[place]
    for j in range(start + 1, start + rest):
        core = fuse(op, core, column[j])
    if fresh.size:
        core = fuse(op, core, back[place]) if rest else core
        core = fuse(op, core, front) if place else core
    return core
