"""Memory for columns, asked for once per call, and used again when no one holds it any more.

A page that is written for the first time costs as much as many answers: the kernel clears it, and under a virtual
machine the host has to find it. So a block that was given back stays here; its pages are the system's to take again.
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


def padded(size: int) -> int:
    """The size with which the next column begins a line of the cache, too."""
    return -(-size // LINE) * LINE


def room(sizes: Sequence[int], kind: np.dtype[Any]) -> list[Column]:
    """Columns of these sizes, not filled, one behind the other in one block; a large block begins with a large page."""
    starts = [0, *accumulate(padded(size) for size in sizes)]
    align = PAGE if starts[-1] >= PAGE else LINE
    block = _large(starts[-1] + align, kind) if align == PAGE else np.empty(starts[-1] + align, kind)
    skip = -block.ctypes.data // kind.itemsize % align
    return [block[skip + start : skip + start + size] for start, size in zip(starts, sizes, strict=False)]


def _large(size: int, kind: np.dtype[Any]) -> Column:
    """A block that comes back when the last column in it is gone."""
    memory = _taken(size * WORD) or _fresh(size * WORD)
    block = np.frombuffer(memory, kind, size)
    finalize(block, _give_back, memory).atexit = False
    return block


def _fresh(size: int) -> mmap.mmap:
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    _advise(memory, "MADV_HUGEPAGE")
    return memory


def _advise(memory: mmap.mmap, advice: str) -> None:
    """What this system knows of it; the memory is as good without."""
    with suppress(AttributeError, OSError):
        memory.madvise(getattr(mmap, advice))


def _taken(size: int) -> mmap.mmap | None:
    """An idle block of about this size. Others may take and give back meanwhile: a lock could wait for itself here,
    since any allocation may run a finalizer."""
    for memory in sorted(_idle, key=len):
        if size <= len(memory) <= 2 * size:
            with suppress(ValueError):  # someone else was faster
                _idle.remove(memory)
                return memory
    return None


def _give_back(memory: mmap.mmap) -> None:
    """Keep it, and let the oldest go that there is no room for."""
    _advise(memory, "MADV_FREE")
    _idle.append(memory)
    while sum(map(len, _idle)) > KEPT:
        with suppress(IndexError):
            del _idle[0]
