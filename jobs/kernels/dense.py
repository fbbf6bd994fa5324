"""Equal windows over a dense column, one row apart, without an inverse.

The windows that start in one block [a, a + B) all hold the core [a + B, a + width). Window a + j is the block's suffix
from j, the core, and the j rows that follow a + width: three combines a row. The core is folded from the folds of whole
blocks by two stacks. Two far blocks are answered at once, since a chain of sums waits for itself.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.columns import Column, fuse, has_nan, quick, scan_back, total
from jobs.kernels.van_herk import equal_blocks, two_blocks

BLOCK: Final = 512
SHORT: Final = 128
STRIP: Final = 2048


@njit(cache=True, nogil=True)
def slide(op: int, column: Column, width: int, out: Column) -> None:
    """out[i] = the fold of column[i : i + width], for every i of out."""
    if width > SHORT and out.size > SHORT:
        _long(op, column, width, out)
        return
    code = quick(op)
    stack = np.empty(width, column.dtype)
    strip = STRIP // width * width + width
    for a in range(0, out.size, strip):
        answers = out[a : a + strip]
        rows = column[a : a + answers.size + width - 1]
        equal_blocks(code, rows, width, stack, answers)
        if code != op and has_nan(rows):
            equal_blocks(op, rows, width, stack, answers)


@njit(cache=True, nogil=True)
def _block(width: int, windows: int) -> int:
    """The block length that leaves the smallest rest of a window; a window has two blocks at least."""
    longest = min(BLOCK, width // 2, windows)
    best = longest
    for block in range(longest, longest // 2, -1):
        if width % block < width % best:
            best = block
    return best


@njit(cache=True, nogil=True)
def _long(op: int, column: Column, width: int, out: Column) -> None:
    block = _block(width, out.size)
    blocks = (out.size + 2 * block - 1) // (2 * block)
    starts = (0, out.size - blocks * block)  # the two halves may overlap by a block
    now, then = np.empty((2, block), column.dtype), np.empty((2, block), column.dtype)
    cores = (_core(op, column[starts[0] :], block, width), _core(op, column[starts[1] :], block, width))
    newest, shared = np.empty(2, column.dtype), np.empty(2, column.dtype)
    easy, dirty = quick(op), 0
    for half in range(2):
        start = starts[half]
        scan_back(op, column[start : start + block], now[half])
        if easy != op and has_nan(column[start : start + width]):
            dirty = width
    for b in range(blocks):
        a0, a1 = starts[0] + b * block, starts[1] + b * block
        code = op if dirty > b * block else easy
        shared[0] = _shared(code, column[a0:], b, block, width, newest[0], cores[0])
        shared[1] = _shared(code, column[a1:], b, block, width, newest[1], cores[1])
        x0, x1 = (a0 + block, a1 + block) if b + 1 < blocks else (a0, a1)
        ahead = (column[x0 : x0 + block], column[x1 : x1 + block])
        behind = (column[a0 + width : a0 + width + block], column[a1 + width : a1 + width + block])
        answers = (out[a0 : a0 + block], out[a1 : a1 + block])
        two_blocks(code, ahead, behind, shared, newest, now, then, answers)
        if easy != op and (has_nan(behind[0]) or has_nan(behind[1])):
            dirty = (b + 1) * block + width
            two_blocks(op, ahead, behind, shared, newest, now, then, answers)
        now, then = then, now


@njit(cache=True, nogil=True)
def _core(op: int, column: Column, block: int, width: int) -> Any:
    """Two stacks over the folds of the whole blocks of a core: suffixes, folds since the flip, their running fold."""
    whole, rest = width // block, width % block
    fresh = np.empty(whole - 1, column.dtype)
    for j in range(whole - 1):
        start = rest + (j + 1) * block
        fresh[j] = total(op, column[start : start + block])
    return np.empty_like(fresh), fresh, np.empty(1, column.dtype)


@njit(cache=True, nogil=True)
def _shared(op: int, column: Column, b: int, block: int, width: int, newest: Any, core: Any) -> Any:
    """What all windows that start in block b hold, from column[0] on; newest is the fold of its last whole block."""
    back, fresh, front = core
    place, rest = b % fresh.size, width % block
    if b:
        fresh[place - 1] = newest
        front[0] = newest if place == 1 else fuse(op, front[0], newest)
    if place == 0:
        scan_back(op, fresh, back)
        fold = back[0]
    else:
        fold = fuse(op, back[place], front[0])
    return fuse(op, total(op, column[block : block + rest]), fold) if rest else fold
