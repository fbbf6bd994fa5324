"""All ranges 1, 2, ..., n at once: each is the one before it and one row more, strip by strip in the cache."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from jobs.kernels.columns import Column, fuse_columns

STRIP: Final = 1024


def ladder(op: int, column: Column, longest: int) -> list[Column]:
    """The folds of column[i : i + r] for every r from 1 to longest, an array per r."""
    out = np.empty((longest, len(column)), column.dtype)
    _ladder(op, column, out)
    return [out[r, : len(column) - r] for r in range(longest)]


@njit(cache=True, nogil=True)
def _ladder(op: int, column: Column, out: Column) -> None:
    for a in range(0, column.size, STRIP):
        out[0, a : a + STRIP] = column[a : a + STRIP]
        for r in range(1, min(out.shape[0], column.size - a)):
            end = min(a + STRIP, column.size - r)
            fuse_columns(op, out[r - 1, a:end], column[a + r : end + r], out[r, a:end])
