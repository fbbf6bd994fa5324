"""Compile every kernel for every type, so that numba's cache on disk holds them when a worker asks first.

python -m jobs.kernels.warm slices      (one part of them, for a process beside another)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from jobs.kernels.algebra.finish import divide_rounded
from jobs.kernels.algebra.operators import MAX, MIN, OPS, SUM_FLOAT, VALUE_COLUMNS, lift
from jobs.kernels.arrays import Column
from jobs.kernels.columns.bounds import find_windows
from jobs.kernels.columns.fold import fold
from jobs.kernels.columns.fold_bounds import REGULAR, count_operations, pick_rows
from jobs.kernels.columns.grid import lay_out_grid
from jobs.kernels.fdlibm import angles, exponentials, logarithms, powers
from jobs.kernels.in_memory.sliding import sliding
from jobs.kernels.slices.accumulate import accumulate, fill_valid_rows, informative_columns, merge_rows
from jobs.kernels.slices.edges import cell_numbers, level_bounds, renumber, slice_numbers
from jobs.kernels.tallies.last_slices import count_distinct
from jobs.kernels.tallies.merge import merge_entries
from jobs.kernels.tallies.registers import estimate_windows, hash_ints, hash_longs, hash_texts, rank_hashes
from jobs.kernels.tallies.values import Place, find_modes, find_places, rank_entries, sum_distinct
from jobs.kernels.techniques import KERNELS
from jobs.kernels.techniques.stream import advance, make, run
from optimizer.algebra.techniques import allowed
from optimizer.windows.window import Window

KINDS = (np.float64, np.int64)
ROWS = 4 * REGULAR
FEW_ROWS = 8
PARTS = ("columns", "slices")  # beside the techniques; no two of them compile the same function
Function = Callable[..., Any]
WINDOWS = [Window(1, 1), Window(2, 1), Window(300, 1), Window(70, 20), Window(11, 4)]


def warm(techniques: Collection[str] = tuple(KERNELS), parts: Collection[str] = PARTS) -> Iterator[str]:
    """Run every kernel on a few rows, of techniques and parts those that are named; yield each one's name first.

    >>> next(warm(["daba"])), [name for name in warm([], [])]
    ('daba', [])
    """
    for technique in techniques:
        yield technique
        _warm_technique(technique)
    if "columns" in parts:
        for kind in KINDS:
            yield f"two_stacks_block, {np.dtype(kind)}"
            _warm_columns(np.arange(ROWS).astype(kind))
    if "slices" in parts:
        yield "tallies"
        _warm_tallies()
        yield "slices"
        _warm_slices()
        yield "elementary functions"
        _warm_functions()


def _warm_technique(technique: str) -> None:
    window = [Window(4, 2)]
    starts = np.arange(ROWS)
    for component, kind in OPS:
        if allowed(technique, component):
            rows = lift(OPS[component, kind], starts.astype(kind))
            run(technique, window, component, np.array([0, ROWS]), starts, rows, ROWS)
            advance(make(technique, window, component, kind), starts, rows)


def _warm_columns(column: Column) -> None:
    for aggregate in ("sum", "min", "stddev_pop"):
        sliding(column, WINDOWS, aggregate)
    starts = np.arange(ROWS)
    windows = find_windows(np.array([0, ROWS]), starts, Window(5, 2), 0, ROWS)
    valid = starts % 2 == 0
    for op in (SUM_FLOAT, MAX):
        fold(op, (column,), windows.lo, windows.hi, valid)
    for op, parts in VALUE_COLUMNS.items():
        fold(op, [column] * len(parts), windows.lo, windows.hi)
    pick_rows(MIN, column, windows.lo, windows.hi, valid)
    count_operations(windows.lo, windows.hi)
    grid = lay_out_grid(np.array([0, ROWS]), starts, WINDOWS, -1, ROWS)
    if grid:
        for window in WINDOWS:
            grid.levels(MAX, column).fold(grid.run(window))


def _warm_tallies() -> None:
    codes = np.arange(FEW_ROWS)
    hashes = hash_longs(codes)
    hash_ints(codes)
    hash_texts(np.zeros(FEW_ROWS, np.uint8), codes)
    registers, ranks = rank_hashes(hashes, 4)
    tally = merge_entries(2, codes // 4, registers, ranks, largest=True)
    estimate_windows(4, tally.offsets, registers[tally.entry], tally.numbers, codes[:1], codes[1:2])
    values = rank_entries(np.arange(FEW_ROWS + 1), codes, codes + 1, np.array([0, FEW_ROWS]))
    group, low, high = np.zeros(1, np.int64), codes[:1], codes[1:2]
    count_distinct(values, [(low, high)])
    find_places(values, group, low, high, Place(0.5))
    find_modes(values, group, low, high)
    for kind in KINDS:
        sum_distinct(values, np.ones((FEW_ROWS, 1), kind), group, low, high)


def _warm_slices() -> None:
    starts = np.arange(FEW_ROWS)
    slice_numbers(starts, starts)
    codes, used = np.zeros(FEW_ROWS, np.int64), np.zeros(FEW_ROWS, np.bool_)
    renumber(cell_numbers(starts, starts, codes, used), starts)
    level_bounds(((4, 0),), np.array([0, FEW_ROWS]), starts)
    for (_, kind), op in OPS.items():
        rows = lift(op, starts.astype(kind))
        merge_rows(op, rows, starts, starts // 2, FEW_ROWS)
        informative_columns(rows)
        column = starts.astype(kind)
        fill_valid_rows(rows, column)
        for places in (True, False):
            accumulate(op, FEW_ROWS, starts // 2, column, None, places)
    divide_rounded(starts, starts, 10, starts + 1)


def _warm_functions() -> None:
    column = np.linspace(0.5, 1.0, FEW_ROWS)
    unary: list[Function] = [logarithms.log, logarithms.log10, logarithms.log1p, powers.cube_root]
    unary += [exponentials.exp, exponentials.expm1, exponentials.sinh, exponentials.cosh, exponentials.tanh]
    unary += [angles.arcsine, angles.arccosine, angles.arctangent]
    for function in unary:
        function(column)
    for function in (powers.power, powers.hypotenuse, angles.arctangent2):
        function(column, column)


if __name__ == "__main__":
    list(warm([], sys.argv[1:]))
