"""Equal windows over a dense column, one row apart, without an inverse.

Long windows: those that start in one block [a, a + B) all hold the core [a + B, a + width). Window a + j is the
block's suffix from j, the core, and the j rows that follow a + width: three combines a row. The core is folded from
the folds of whole blocks by two stacks.

Short windows: neighbours are folded by fours, and fours by fours. A window of 27 rows is one fold of sixteen, two of
four and three rows, each read at its own shift: vectors that never wait for each other, in tiles that stay in the
first cache. A column without a whole tile is folded by ones, twos, fours, and so on: those that a width is made of
follow each other.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from jobs.kernels.algebra.operators import SUM_FLOAT
from jobs.kernels.arrays import ZERO, Column, Ints
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
from jobs.kernels.columns.simd import VECTOR, load, store, straddle
from jobs.kernels.columns.van_herk import BEYOND, answer_block, fold_by_flips

BLOCK: Final = 512
SET_UP: Final = 64  # what a block costs beside its rows, in rows
SHORT: Final = 64  # windows from here on go by blocks
TILE: Final = 1024
STEP: Final = 4 * VECTOR
FOURS: Final = TILE + SHORT + STEP  # where the folds of four begin in the scratch of a tile, behind the rows
SIXTEENS: Final = 2 * FOURS
READ: Final = FOURS + STEP + 2 * VECTOR  # rows that a tile reads, used or not
BY_SIXTEEN: Final = 24  # from this width on, folds of sixteen pay


@njit(cache=True, nogil=True)
def fold_one_row_apart(op: int, column: Column, width: int, out: Column) -> None:
    """Set out[i] to the fold of column[i : i + width], for every i of out; the column ends with the last window.

    >>> out = np.empty(3)
    >>> fold_one_row_apart(5, np.array([3.0, 1.0, 2.0, 0.0]), 2, out)  # MAX
    >>> out.tolist()
    [3.0, 2.0, 2.0]
    """
    quick = quick_operator(op)
    if width < SHORT:
        if is_vectorized(quick):
            fold_short_windows(op, column, width, out)
        else:
            _fold_rest(op, column, ZERO, width, out)
        return
    block, a = _choose_block(width), ZERO
    while is_vectorized(quick) and a + width + block + BEYOND <= column.size:
        if quick != op and has_nan_between(column, a, a + width + block):
            fold_by_flips(op, column[a:], width, out[a : a + width])
            a += min(width, out.size - a)
        else:
            a = _answer_blocks(quick, column, a, width, block, out)
    _fold_rest(op, column, a, width, out)


@njit(cache=True, nogil=True)
def _fold_rest(op: int, column: Column, a: int, width: int, out: Column) -> None:
    """Fold the windows from row a on, for which there is no whole block or tile left."""
    if a < out.size:
        rest = column[a:]
        code = op if has_nan(rest) else quick_operator(op)
        if width < SHORT:
            fold_by_doubling(code, rest, width, out[a:])
        else:
            fold_by_flips(code, rest, width, out[a:])


@njit(cache=True, nogil=True)
def fold_by_doubling(op: int, column: Column, width: int, out: Column) -> None:
    """Set out[i] to the fold of column[i : i + width], however few windows there are.

    >>> out = np.empty(2)
    >>> fold_by_doubling(5, np.array([3.0, np.nan, 2.0, 0.0]), 3, out)  # MAX
    >>> out.tolist()
    [nan, nan]
    """
    if op <= SUM_FLOAT:
        _double(SUM_FLOAT, column, width, out)
    elif op == QUICK_MAX:
        _double(QUICK_MAX, column, width, out)
    elif op == QUICK_MIN:
        _double(QUICK_MIN, column, width, out)
    else:
        _double(op, column, width, out)


@njit(cache=True, nogil=True, forceinline=True)
def _double(op: int, column: Column, width: int, out: Column) -> None:
    """Double the runs of rows, and join those that the width is made of: 13 rows are one, then four, then eight."""
    rows = out.size + width - 1
    runs, answers = np.empty(rows + SHORT + VECTOR, column.dtype), np.empty(out.size + VECTOR, column.dtype)
    runs[:rows] = column[:rows]
    runs[rows:] = column[0]  # read, and not used
    begin, length = ZERO, ZERO + 1
    while True:
        if width & length:
            for k in range(0, out.size, VECTOR):
                run = load(runs, begin + k)
                store(answers, k, run if begin == 0 else fuse(op, load(answers, k), run))
            begin += length
        if begin == width:
            break
        for k in range(0, rows - length, VECTOR):  # what is ahead is read before it is written
            store(runs, k, fuse(op, load(runs, k), load(runs, k + length)))
        length *= 2
    out[:] = answers[: out.size]


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
    """Answer blocks from row a on, up to the first that a NaN is in; return the row where it ended.

    As in `_answer_tiles`, every branch compiles its own loop with a constant operator. A function as an argument
    would make one branching of both, and numba would compile it anew in every process."""
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


@njit(cache=True, nogil=True)
def fold_short_windows(op: int, column: Column, width: int, out: Column) -> None:
    """Set out[i] to the fold of column[i : i + width], a width below SHORT.

    >>> out = np.empty(3)
    >>> fold_short_windows(5, np.array([3.0, 1.0, 2.0, 0.0]), 2, out)  # MAX
    >>> out.tolist()
    [3.0, 2.0, 2.0]
    """
    quick, a = quick_operator(op), ZERO
    if out.size < TILE:
        _fold_rest(op, column, a, width, out)
        return
    pieces, scratch = _pieces(width), np.empty(3 * FOURS, column.dtype)
    while a + TILE <= out.size and a + READ <= column.size:
        if quick != op and has_nan_between(column, a, a + READ):
            fold_by_flips(op, column[a:], width, out[a : a + TILE])
            a += TILE
        else:
            a = _answer_tiles(quick, column, a, pieces, scratch, out)
    _fold_rest(op, column, a, width, out)


@njit(cache=True, nogil=True)
def _pieces(width: int) -> Ints:
    """Return where in the scratch the pieces of the tile's first window are."""
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
def _answer_tiles(op: int, column: Column, a: int, pieces: Ints, scratch: Column, out: Column) -> int:
    """Answer whole tiles from row a on, up to the first that a NaN is in; return the row where it ended."""
    if op <= SUM_FLOAT:
        return _tiles(SUM_FLOAT, column, a, pieces, scratch, out)
    if op == QUICK_MAX:
        return _tiles(QUICK_MAX, column, a, pieces, scratch, out)
    return _tiles(QUICK_MIN, column, a, pieces, scratch, out)


@njit(cache=True, nogil=True, forceinline=True)
def _tiles(op: int, column: Column, a: int, pieces: Ints, scratch: Column, out: Column) -> int:
    """Answer tiles; reads and writes go side by side, or memory and processor wait for each other in turns."""
    wide, by_sixteen = pieces[-1] % FOURS, pieces[0] >= SIXTEENS
    lead = wide // STEP * STEP + (2 * STEP if by_sixteen else STEP)
    while a + TILE <= out.size and a + READ <= column.size:
        pairs = fuse(op, load(column, a), load(column, a + 1))
        for k in range(0, TILE + lead, STEP):
            pairs = _prepare(op, column, a, scratch, k, pairs)
            if by_sixteen and k >= STEP:
                _by_sixteen(op, scratch, k - STEP)
            if k >= lead:
                _join(op, scratch, pieces, k - lead, out, a + k - lead)
        if op >= QUICK and has_nan_between(column, a, a + READ):
            break
        a += TILE
    return a


@njit(cache=True, nogil=True, forceinline=True)
def _prepare(op: int, column: Column, a: int, scratch: Column, k: int, pairs: Any) -> Any:
    """Put sixteen more rows into the scratch, and their folds of four: two pairs each, one of them left to the next."""
    for j in range(k, k + STEP, VECTOR):
        behind = fuse(op, load(column, a + j + VECTOR), load(column, a + j + VECTOR + 1))
        store(scratch, j, load(column, a + j))
        store(scratch, FOURS + j, fuse(op, pairs, straddle(pairs, behind)))
        pairs = behind
    return pairs


@njit(cache=True, nogil=True, forceinline=True)
def _by_sixteen(op: int, scratch: Column, k: int) -> None:
    for j in range(FOURS + k, FOURS + k + STEP, VECTOR):
        left = fuse(op, load(scratch, j), load(scratch, j + 4))
        right = fuse(op, load(scratch, j + 8), load(scratch, j + 12))
        store(scratch, FOURS + j, fuse(op, left, right))


@njit(cache=True, nogil=True, forceinline=True)
def _join(op: int, scratch: Column, pieces: Ints, k: int, out: Column, a: int) -> None:
    """Fold the pieces of sixteen windows."""
    at = pieces[0] + k
    f0, f1, f2, f3 = load(scratch, at), load(scratch, at + 4), load(scratch, at + 8), load(scratch, at + 12)
    for j in range(1, pieces.size):
        at = pieces[j] + k
        f0, f1 = fuse(op, f0, load(scratch, at)), fuse(op, f1, load(scratch, at + 4))
        f2, f3 = fuse(op, f2, load(scratch, at + 8)), fuse(op, f3, load(scratch, at + 12))
    store(out, a, f0)
    store(out, a + 4, f1)
    store(out, a + 8, f2)
    store(out, a + 12, f3)
