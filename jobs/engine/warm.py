"""Compile what the engine itself adds to the kernels, for every kind of number."""

from __future__ import annotations

import numpy as np

from jobs.engine.accumulate import accumulate
from jobs.engine.merge import merge_rows
from jobs.engine.slicing import slice_numbers
from jobs.kernels.operators import OPS, lift

ROWS = 8


def warm() -> None:
    """Run each function once on a few rows."""
    starts = np.arange(ROWS)
    slice_numbers(starts, starts)
    for (_, kind), op in OPS.items():
        values = starts.astype(kind)
        for valid in (None, starts % 2 == 0):
            accumulate(op, ROWS, starts // 2, values, valid)
        merge_rows(op, lift(op, values), starts, starts // 2, ROWS)
