"""Combines the partials that belong to the same key and slice."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from jobs.kernels.operators import WIDTH, Rows, combine

Ints = npt.NDArray[np.int64]


@njit(cache=True, nogil=True)
def merge_rows(op: int, rows: Rows, chosen: Ints, cell: Ints, cells: int) -> Rows:
    """out[cell[i]] is combined with rows[chosen[i]], one after another; a cell without any is null."""
    out = np.zeros((cells, WIDTH), rows.dtype)
    for i in range(chosen.size):
        combine(op, out, cell[i], rows, chosen[i], out, cell[i])
    return out
