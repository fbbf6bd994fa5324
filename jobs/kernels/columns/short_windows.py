"""Short windows over a dense column, one row apart: neighbours are folded by fours, and fours by fours.

A window of 27 rows is one fold of sixteen, two of four and three rows, each read at its own shift: lanes that never
wait for each other, in tiles that stay in the first cache.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.algebra.int_literals import ZERO
from jobs.kernels.algebra.operators import SUM_FLOAT
from jobs.kernels.arrays import Column, Ints
from jobs.kernels.columns.flips import flip
from jobs.kernels.columns.operators import QUICK, QUICK_MAX, QUICK_MIN, fuse, has_nan, nan_between, quick
from jobs.kernels.columns.simd import LANES, load, store, straddle

SHORT: Final = 64  # windows from here on go by blocks
TILE: Final = 1024
STEP: Final = 4 * LANES
FOURS: Final = TILE + SHORT + STEP  # where the folds of four begin in the room of a tile, behind the rows
SIXTEENS: Final = 2 * FOURS
READ: Final = FOURS + STEP + 2 * LANES  # rows that a tile reads, used or not
BY_SIXTEEN: Final = 24  # from this width on, folds of sixteen pay


@njit(cache=True, nogil=True)
def fold_neighbours(op: int, column: Column, width: int, out: Column) -> None:
    """out[i] = the fold of column[i : i + width], a width below SHORT."""
    pieces, room, easy, a = _pieces(width), np.empty(3 * FOURS, column.dtype), quick(op), ZERO
    while a + TILE <= out.size and a + READ <= column.size:
        if easy != op and nan_between(column, a, a + READ):
            flip(op, column[a:], width, out[a : a + TILE])
            a += TILE
        else:
            a = _run(easy, column, a, pieces, room, out)
    if a < out.size:
        rest = column[a:]
        flip(op if has_nan(rest) else easy, rest, width, out[a:])


@njit(cache=True, nogil=True)
def _pieces(width: int) -> Ints:
    """Where in the room a window's pieces are, for the tile's first window."""
    sixteens = width // 16 if width >= BY_SIXTEEN else 0
    fours = (width - 16 * sixteens) // 4
    rows = width % 4
    pieces = np.empty(sixteens + fours + rows, np.int64)
    for j in range(sixteens):
        pieces[j] = SIXTEENS + 16 * j
    for j in range(fours):
        pieces[sixteens + j] = FOURS + 16 * sixteens + 4 * j
    for j in range(rows):
        pieces[sixteens + fours + j] = width - rows + j
    return pieces


@njit(cache=True, nogil=True)
def _run(op: int, column: Column, a: int, pieces: Ints, room: Column, out: Column) -> int:
    """Answer whole tiles from row a on, up to the first that a NaN is in; the row where it ended."""
    if op <= SUM_FLOAT:
        return _tiles(SUM_FLOAT, column, a, pieces, room, out)
    if op == QUICK_MAX:
        return _tiles(QUICK_MAX, column, a, pieces, room, out)
    return _tiles(QUICK_MIN, column, a, pieces, room, out)


@njit(cache=True, nogil=True, forceinline=True)
def _tiles(op: int, column: Column, a: int, pieces: Ints, room: Column, out: Column) -> int:
    """What is read and what is written go side by side, or the memory waits for the processor and it for the memory."""
    wide, by_sixteen = pieces[-1] % FOURS, pieces[0] >= SIXTEENS
    lead = wide // STEP * STEP + (2 * STEP if by_sixteen else STEP)
    while a + TILE <= out.size and a + READ <= column.size:
        pairs = fuse(op, load(column, a), load(column, a + 1))
        for k in range(0, TILE + lead, STEP):
            pairs = _prepare(op, column, a, room, k, pairs)
            if by_sixteen and k >= STEP:
                _by_sixteen(op, room, k - STEP)
            if k >= lead:
                _join(op, room, pieces, k - lead, out, a + k - lead)
        if op >= QUICK and nan_between(column, a, a + READ):
            break
        a += TILE
    return a


@njit(cache=True, nogil=True, forceinline=True)
def _prepare(op: int, column: Column, a: int, room: Column, k: int, pairs: Any) -> Any:
    """Sixteen more rows in the room, and their folds of four; of two pairs each, of which one is left to the next."""
    for j in range(k, k + STEP, LANES):
        behind = fuse(op, load(column, a + j + LANES), load(column, a + j + LANES + 1))
        store(room, j, load(column, a + j))
        store(room, FOURS + j, fuse(op, pairs, straddle(pairs, behind)))
        pairs = behind
    return pairs


@njit(cache=True, nogil=True, forceinline=True)
def _by_sixteen(op: int, room: Column, k: int) -> None:
    for j in range(FOURS + k, FOURS + k + STEP, LANES):
        left = fuse(op, load(room, j), load(room, j + 4))
        right = fuse(op, load(room, j + 8), load(room, j + 12))
        store(room, FOURS + j, fuse(op, left, right))


@njit(cache=True, nogil=True, forceinline=True)
def _join(op: int, room: Column, pieces: Ints, k: int, out: Column, a: int) -> None:
    """Fold the pieces of sixteen windows."""
    at = pieces[0] + k
    f0, f1, f2, f3 = load(room, at), load(room, at + 4), load(room, at + 8), load(room, at + 12)
    for j in range(1, pieces.size):
        at = pieces[j] + k
        f0, f1 = fuse(op, f0, load(room, at)), fuse(op, f1, load(room, at + 4))
        f2, f3 = fuse(op, f2, load(room, at + 8)), fuse(op, f3, load(room, at + 12))
    store(out, a, f0)
    store(out, a + 4, f1)
    store(out, a + 8, f2)
    store(out, a + 12, f3)
