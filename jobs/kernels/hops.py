"""Equal windows over a dense column, several rows apart: pairs of chunks, each row read once."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from jobs.kernels.columns import Column, fuse, fuse_into, has_nan, quick, total
from jobs.kernels.dense import slide

LONG: Final = 32
STRIP: Final = 1024


@njit(cache=True, nogil=True)
def hop(op: int, column: Column, width: int, step: int, out: Column) -> None:
    """out[i] = the fold of column[i * step : i * step + width]."""
    whole, fragment = width // step, width % step
    if step == 1:
        slide(op, column, width, out)
    elif whole == 0:
        chunks(op, column, width, step, out)
    else:
        starts = np.empty(out.size + whole - 1, column.dtype)
        chunks(op, column, step, step, starts)
        hop_chunks(op, column[whole * step :], starts, fragment, step, out)


@njit(cache=True, nogil=True)
def hop_chunks(op: int, ends: Column, starts: Column, fragment: int, step: int, out: Column) -> None:
    """Windows of whole chunks, which starts holds, and a fragment of the chunk after them; ends[0] is its first row."""
    slide(op, starts, starts.size - out.size + 1, out)
    if fragment:
        fragments = np.empty(out.size, out.dtype)
        chunks(op, ends, fragment, step, fragments)
        fuse_into(op, out, fragments)


@njit(cache=True, nogil=True)
def chunks(op: int, column: Column, length: int, step: int, out: Column) -> None:
    """out[k] = the fold of column[k * step : k * step + length], at most step rows."""
    easy = quick(op)
    several = max(1, STRIP // step)
    for k in range(0, out.size, several):
        answers = out[k : k + several]
        rows = column[k * step : (k + answers.size - 1) * step + length]
        _chunks(easy, rows, length, step, answers)
        if easy != op and has_nan(rows):
            _chunks(op, rows, length, step, answers)


@njit(cache=True, nogil=True)
def _chunks(op: int, column: Column, length: int, step: int, out: Column) -> None:
    if length >= LONG:
        for k in range(out.size):
            out[k] = total(op, column[k * step : k * step + length])
        return
    for k in range(out.size):
        out[k] = column[k * step]
    for j in range(1, length):
        every = column[j::step]
        for k in range(out.size):
            out[k] = fuse(op, out[k], every[k])
