"""The inner loops of dense windows, as van Herk and Gil-Werman have them: blocks as long as a window, pairs of blocks.

Indices are unsigned, or every access would check for a negative one. The operator is a constant in each inlined copy:
LLVM then inlines `fuse` down to one instruction, where numba's own inlining would take minutes to compile.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.columns import QUICK_MAX, QUICK_MIN, Column, fuse
from jobs.kernels.operators import SUM_FLOAT

ONE: Final = np.uint64(1)


@njit(cache=True, nogil=True, inline="always")
def _equal_blocks(op: int, column: Column, width: int, stack: Column, out: Column) -> None:
    n, count, a = np.uint64(width), np.uint64(out.size), np.uint64(0)
    last = n - ONE
    while a < count:
        rows = min(n, count - a)
        back = column[a + last]
        stack[last] = back
        for j in range(ONE, n):
            back = fuse(op, column[a + last - j], back)
            stack[last - j] = back
        out[a] = back
        if rows > ONE:
            front = column[a + n]
            for j in range(ONE, rows - ONE):
                out[a + j] = fuse(op, stack[j], front)
                front = fuse(op, front, column[a + n + j])
            out[a + rows - ONE] = fuse(op, stack[rows - ONE], front)
        a += n


@njit(cache=True, nogil=True)
def equal_blocks(op: int, column: Column, width: int, stack: Column, out: Column) -> None:
    """out[i] = the fold of column[i : i + width]; a block is a window long, so it has no core."""
    if op <= SUM_FLOAT:
        _equal_blocks(SUM_FLOAT, column, width, stack, out)
    elif op == QUICK_MIN:
        _equal_blocks(QUICK_MIN, column, width, stack, out)
    elif op == QUICK_MAX:
        _equal_blocks(QUICK_MAX, column, width, stack, out)
    else:
        _equal_blocks(op, column, width, stack, out)


@njit(cache=True, nogil=True, inline="always")
def _two_blocks(
    op: int, ahead: Any, behind: Any, core: Column, newest: Column, now: Column, then: Column, out: Any
) -> None:
    (x0, x1), (y0, y1), (o0, o1) = ahead, behind, out
    s0, s1, t0, t1 = now[0], now[1], then[0], then[1]
    last = np.uint64(o0.size) - ONE
    c0, c1, f0, f1, b0, b1 = core[0], core[1], y0[0], y1[0], x0[last], x1[last]
    o0[0], o1[0], t0[last], t1[last] = fuse(op, s0[0], c0), fuse(op, s1[0], c1), b0, b1
    for j in range(ONE, last):
        o0[j] = fuse(op, fuse(op, s0[j], c0), f0)
        f0 = fuse(op, f0, y0[j])
        o1[j] = fuse(op, fuse(op, s1[j], c1), f1)
        f1 = fuse(op, f1, y1[j])
        k = last - j
        b0 = fuse(op, x0[k], b0)
        t0[k] = b0
        b1 = fuse(op, x1[k], b1)
        t1[k] = b1
    o0[last], o1[last] = fuse(op, fuse(op, s0[last], c0), f0), fuse(op, fuse(op, s1[last], c1), f1)
    t0[0], t1[0] = fuse(op, x0[0], b0), fuse(op, x1[0], b1)
    if y1.size > last:  # the very last window has no row behind it
        newest[0], newest[1] = fuse(op, f0, y0[last]), fuse(op, f1, y1[last])


@njit(cache=True, nogil=True)
def two_blocks(
    op: int, ahead: Any, behind: Any, core: Column, newest: Column, now: Column, then: Column, out: Any
) -> None:
    """Answer two far blocks at once, so that four chains of operations overlap and memory is read in straight lines.

    now holds the blocks' suffixes, then gets those of the blocks ahead; core is what the windows of a block share, and
    newest gets the fold of the rows behind them.
    """
    if op <= SUM_FLOAT:
        _two_blocks(SUM_FLOAT, ahead, behind, core, newest, now, then, out)
    elif op == QUICK_MIN:
        _two_blocks(QUICK_MIN, ahead, behind, core, newest, now, then, out)
    elif op == QUICK_MAX:
        _two_blocks(QUICK_MAX, ahead, behind, core, newest, now, then, out)
    else:
        _two_blocks(op, ahead, behind, core, newest, now, then, out)
