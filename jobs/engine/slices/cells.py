"""Cells: the (key, slice) pairs that occur, numbered key by key and in slice order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from jobs.engine.events.keys import LARGEST
from jobs.kernels.arrays import Ints
from jobs.kernels.slices.edges import cell_numbers, count_between, edges_between, renumber, slice_starts
from optimizer.plan.counts import most_dense_cells
from optimizer.windows.edges import Edges


class Cells(NamedTuple):
    """Entry i belongs to cell[i]; cell c stands for key code[c] and the slice that starts at start[c]."""

    cell: Ints
    code: Ints
    start: Ints
    are_sorted: bool = False  # since there were too many possible cells to lay them out


def find_cells(edges: Edges, times: Ints, codes: Ints, groups: int) -> Cells:
    """Return the cells of events at some times, of keys 0 to `groups` - 1.

    >>> cells = find_cells(((10, 0),), times=np.array([3, 12, 7]), codes=np.array([1, 0, 1]), groups=2)
    >>> cells.cell.tolist(), cells.code.tolist(), cells.start.tolist()
    ([1, 0, 1], [0, 1], [10, 0])
    """
    if not len(times):
        none = np.empty(0, np.int64)
        return Cells(none, none, none)
    first, last = int(times.min()), int(times.max())
    if count_between(edges, first, last) * groups <= most_dense_cells(len(times)):
        starts = edges_between(edges, first, last)
        used = np.zeros(groups * len(starts), np.bool_)
        cell = cell_numbers(starts, times, codes, used)
        pairs = np.flatnonzero(used)
        if len(pairs) < len(used):
            renumber(cell, np.cumsum(used) - 1)
        return Cells(cell, pairs // len(starts), starts[pairs % len(starts)])
    return cells_of_starts(slice_starts(edges, times), codes, groups)._replace(are_sorted=True)


def cells_of_starts(start: Ints, codes: Ints, groups: int) -> Cells:
    """Return the cells of partials whose slices start at some times.

    >>> cells = cells_of_starts(np.array([10, 0, 10]), codes=np.array([0, 0, 0]), groups=1)
    >>> cells.cell.tolist(), cells.start.tolist()
    ([1, 0, 1], [0, 10])
    """
    encoded = pa.array(start).dictionary_encode()  # a third of the price of np.unique
    starts = encoded.dictionary.to_numpy()
    order = np.argsort(starts)
    rank = np.empty(len(starts), np.int64)
    rank[order] = np.arange(len(starts))
    return number_cells(codes, groups, rank[encoded.indices.to_numpy()], starts[order])


def number_cells(codes: Ints, groups: int, number: Ints, starts: Ints) -> Cells:
    """Return the cells of partials of some keys, each with the number of its slice's start.

    >>> cells = number_cells(np.array([1, 0, 1]), 2, number=np.array([1, 0, 1]), starts=np.array([10, 20]))
    >>> cells.cell.tolist(), cells.code.tolist(), cells.start.tolist()
    ([1, 0, 1], [0, 1], [10, 20])
    """
    if groups * len(starts) > LARGEST:
        return _sort_pairs(codes, number, starts)
    pair = codes * len(starts) + number
    if groups * len(starts) <= most_dense_cells(len(pair)):
        used = np.bincount(pair, minlength=groups * len(starts)) > 0
        pairs, cell = np.flatnonzero(used), (np.cumsum(used) - 1)[pair]
    else:
        pairs, cell = np.unique(pair, return_inverse=True)
    return Cells(cell.astype(np.int64, copy=False), pairs // len(starts), starts[pairs % len(starts)])


def cells_in_order(start: Ints, codes: Ints) -> Cells:
    """Return the cells of partials that come key by key and in slice order: no sort is needed.

    >>> cells = cells_in_order(np.array([0, 0, 10, 0]), codes=np.array([0, 0, 0, 1]))
    >>> cells.cell.tolist(), cells.code.tolist(), cells.start.tolist()
    ([0, 0, 1, 2], [0, 0, 1], [0, 10, 0])
    """
    first = np.ones(len(start), np.bool_)
    first[1:] = (start[1:] != start[:-1]) | (codes[1:] != codes[:-1])
    return Cells(np.cumsum(first) - 1, codes[first], start[first])


def _sort_pairs(codes: Ints, number: Ints, starts: Ints) -> Cells:
    """Number the cells without a product of keys and slices, which would not fit."""
    order = np.lexsort((number, codes))
    ordered = cells_in_order(starts[number[order]], codes[order])
    cell = np.empty(len(order), np.int64)
    cell[order] = ordered.cell
    return ordered._replace(cell=cell)
