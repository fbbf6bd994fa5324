"""Compile every kernel for every type, so that numba's cache on disk holds them when a worker asks first."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from jobs.kernels.algebra.operators import MAX, MIN, MOMENTS, OPS, SUM_FLOAT, lift
from jobs.kernels.columns.bounds import ranges
from jobs.kernels.columns.fold import fold
from jobs.kernels.columns.fold_bounds import REGULAR
from jobs.kernels.columns.grid import grid_of
from jobs.kernels.columns.selective import pick
from jobs.kernels.in_memory.sliding import sliding
from jobs.kernels.techniques import KERNELS
from jobs.kernels.techniques.stream import advance, make, run
from optimizer.algebra.techniques import allowed
from optimizer.windows.window import Window

KINDS = (np.float64, np.int64)
ROWS = 4 * REGULAR
WINDOWS = [Window(1, 1), Window(2, 1), Window(300, 1), Window(70, 20), Window(11, 4)]


def warm(techniques: Collection[str] = tuple(KERNELS)) -> Iterator[str]:
    """Run the columnar kernel and the literal ones named on a few rows; yields the name of each before its turn."""
    for technique in techniques:
        yield technique
        _literal(technique)
    for kind in KINDS:
        yield f"two_stacks_block, {np.dtype(kind)}"
        _columns(np.arange(ROWS).astype(kind))


def _literal(technique: str) -> None:
    window = [Window(4, 2)]
    starts = np.arange(ROWS)
    for component, kind in OPS:
        if allowed(technique, component):
            rows = lift(OPS[component, kind], starts.astype(kind))
            run(technique, window, component, np.array([0, ROWS]), starts, rows, ROWS)
            advance(make(technique, window, component, kind), starts, rows)


def _columns(column: np.ndarray[tuple[int], np.dtype[np.float64 | np.int64]]) -> None:
    for aggregate in ("sum", "min", "stddev_pop"):
        sliding(column, WINDOWS, aggregate)
    starts = np.arange(ROWS)
    found = ranges(np.array([0, ROWS]), starts, Window(5, 2), 0, ROWS)
    valid = starts % 2 == 0
    for op in (SUM_FLOAT, MAX):
        fold(op, (column,), found.lo, found.hi, valid)
    fold(MOMENTS, (column, column, column), found.lo, found.hi)
    pick(MIN, column, found.lo, found.hi, valid)
    grid = grid_of(np.array([0, ROWS]), starts, WINDOWS, -1, ROWS)
    if grid:
        for window in WINDOWS:
            grid.levels(MAX, column).fold(grid.run(window))
