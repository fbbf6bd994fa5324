"""Memory for columns, allocated once per call, and used again when no column is left in it.

A page that is written for the first time costs as much as many answers: the system clears it, and under a virtual
machine its host has to find it. So a block that was given back stays here; its pages are the system's to take again.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any, Final
from weakref import finalize

import numpy as np

from jobs.kernels.arrays import Column

LINE: Final = 8  # values in a line of the cache
PAGE: Final = 1 << 18  # values in a large page
WORD: Final = 8  # bytes of a value
KEPT: Final = 1 << 30  # bytes that wait for their next use, at most

_idle: list[mmap.mmap] = []


def pad_size(size: int) -> int:
    """Return the size with which the next column begins a line of the cache, too.

    >>> pad_size(8), pad_size(9)
    (8, 16)
    """
    return -(-size // LINE) * LINE


def allocate_columns(sizes: Sequence[int], kind: np.dtype[Any]) -> list[Column]:
    """Allocate columns of these sizes, not filled, one behind the other in one block of memory.

    A large block begins with a large page.

    >>> [column.shape for column in allocate_columns([3, 5], np.dtype(float))]
    [(3,), (5,)]
    """
    starts = [0, *accumulate(pad_size(size) for size in sizes)]
    align = PAGE if starts[-1] >= PAGE else LINE
    block = _large_block(starts[-1] + align, kind) if align == PAGE else np.empty(starts[-1] + align, kind)
    skip = -block.ctypes.data // kind.itemsize % align
    return [block[skip + start : skip + start + size] for start, size in zip(starts, sizes, strict=False)]


def _large_block(size: int, kind: np.dtype[Any]) -> Column:
    """Return a block that comes back when the last column in it is gone."""
    memory = _reuse_block(size * WORD) or _new_block(size * WORD)
    block = np.frombuffer(memory, kind, size)
    finalize(block, _give_back, memory).atexit = False
    return block


def _new_block(size: int) -> mmap.mmap:
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    _advise(memory, "MADV_HUGEPAGE")
    return memory


def _advise(memory: mmap.mmap, advice: str) -> None:
    """Tell the system how a block will be used, where it can be told; the memory works without."""
    with suppress(AttributeError, OSError):
        memory.madvise(getattr(mmap, advice))


def _reuse_block(size: int) -> mmap.mmap | None:
    """Take an idle block of about this size."""
    # Other threads may take and give back meanwhile. A lock could wait for itself: any allocation may run a finalizer.
    for memory in sorted(_idle, key=len):
        if size <= len(memory) <= 2 * size:
            with suppress(ValueError):  # someone else was faster
                _idle.remove(memory)
                return memory
    return None


def _give_back(memory: mmap.mmap) -> None:
    """Keep a block, and let the oldest go that there is no room for."""
    _advise(memory, "MADV_FREE")
    _idle.append(memory)
    while sum(map(len, _idle)) > KEPT:
        with suppress(IndexError):
            del _idle[0]
