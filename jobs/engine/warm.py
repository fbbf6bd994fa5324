"""Compile what the engine itself adds to the kernels, for every kind of number."""

from __future__ import annotations

import numpy as np

from jobs.kernels.algebra.operators import OPS, lift
from jobs.kernels.arrays import Rows
from jobs.kernels.columns.operations import block_operations
from jobs.kernels.slices.accumulate import accumulate
from jobs.kernels.slices.combine import fill, merge_rows, telling
from jobs.kernels.slices.edges import cell_numbers, renumber, slice_numbers

ROWS = 8


def warm() -> None:
    """Run each function once on a few rows; columns of Arrow tables may not be written to, which is another type."""
    starts, frozen = np.arange(ROWS), _frozen(np.arange(ROWS))
    block_operations(starts, starts)
    for times in (starts, frozen):
        slice_numbers(starts, times)
        renumber(cell_numbers(starts, times, np.zeros(ROWS, np.int64), np.zeros(ROWS, np.bool_)), starts)
    for (_, kind), op in OPS.items():
        values = starts.astype(kind)
        for column in (values, _frozen(values.copy())):
            for valid in (None, starts % 2 == 0):
                accumulate(op, ROWS, starts // 2, column, valid)
                accumulate(op, ROWS, starts // 2, column, valid, places=False)
        rows = lift(op, values)
        merge_rows(op, rows, starts, starts // 2, ROWS)
        telling(rows)
        for column in (values, _frozen(values.copy())):
            fill(rows, column)


def _frozen(column: Rows) -> Rows:
    column.flags.writeable = False
    return column
