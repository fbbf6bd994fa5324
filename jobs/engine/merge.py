"""Combines the partials that belong to the same key and slice."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from jobs.kernels.operators import WIDTH, Rows, combine, copy_row

Ints = npt.NDArray[np.int64]


@njit(cache=True, nogil=True)
def merge_rows(op: int, rows: Rows, order: Ints, segments: Ints) -> Rows:
    """out[i] = the combination of rows[order[segments[i] : segments[i + 1]]], in that order."""
    out = np.empty((segments.size - 1, WIDTH), rows.dtype)
    for i in range(segments.size - 1):
        copy_row(rows, order[segments[i]], out, i)
        for j in range(segments[i] + 1, segments[i + 1]):
            combine(op, out, i, rows, order[j], out, i)
    return out


@njit(cache=True, nogil=True)
def merge_chosen(op: int, rows: Rows, chosen: Ints, cell: Ints, cells: int) -> Rows:
    """out[cell[i]] is combined with rows[chosen[i]], one after another; a cell without any is null."""
    out = np.zeros((cells, WIDTH), rows.dtype)
    for i in range(chosen.size):
        combine(op, out, cell[i], rows, chosen[i], out, cell[i])
    return out
