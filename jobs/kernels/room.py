"""Memory for answers, asked for once per call: the system hands out fewer and larger pages then."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Final

import numpy as np

from jobs.kernels.columns import Column

LINE: Final = 8  # values in a line of the cache
PAGE: Final = 1 << 18  # values in a large page


def padded(size: int) -> int:
    """The size with which the next column begins a line of the cache, too."""
    return -(-size // LINE) * LINE


def room(sizes: Sequence[int], kind: np.dtype[Any]) -> list[Column]:
    """Columns of these sizes, not filled, one behind the other in one block; a large block begins with a large page."""
    starts = [0, *accumulate(padded(size) for size in sizes)]
    align = PAGE if starts[-1] >= PAGE else LINE
    block = np.empty(starts[-1] + align, kind)
    skip = -block.ctypes.data // kind.itemsize % align
    return [block[skip + start : skip + start + size] for start, size in zip(starts, sizes, strict=False)]
