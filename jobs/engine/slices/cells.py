"""Cells: the (key, slice) pairs that occur, numbered key by key and in slice order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from jobs.kernels.arrays import Ints
from jobs.kernels.slices.edges import cell_numbers, count_between, edges_between, renumber, slice_starts
from optimizer.windows.edges import Edges

ROOMY = 4  # cells are laid out densely while there are at most this many per entry


class Cells(NamedTuple):
    """Entry i belongs to cell[i]; cell c stands for key code[c] and the slice that starts at start[c]."""

    cell: Ints
    code: Ints
    start: Ints


def find_cells(edges: Edges, times: Ints, codes: Ints, groups: int) -> Cells:
    """The cells of events at some times."""
    if not len(times):
        none = np.empty(0, np.int64)
        return Cells(none, none, none)
    first, last = int(times.min()), int(times.max())
    if _roomy(count_between(edges, first, last) * groups, len(times)):
        starts = edges_between(edges, first, last)
        used = np.zeros(groups * len(starts), np.bool_)
        cell = cell_numbers(starts, times, codes, used)
        occurring = np.flatnonzero(used)
        if len(occurring) < len(used):
            renumber(cell, np.cumsum(used) - 1)
        return Cells(cell, occurring // len(starts), starts[occurring % len(starts)])
    return cells_of_starts(slice_starts(edges, times), codes, groups)


def cells_of_starts(start: Ints, codes: Ints, groups: int) -> Cells:
    """The cells of partials whose slices start at some times."""
    encoded = pa.array(start).dictionary_encode()  # a third of the price of np.unique
    starts = encoded.dictionary.to_numpy()
    order = np.argsort(starts)
    rank = np.empty(len(starts), np.int64)
    rank[order] = np.arange(len(starts))
    return _numbered(codes, groups, rank[encoded.indices.to_numpy()], starts[order])


def cells_in_order(start: Ints, codes: Ints) -> Cells:
    """The same for partials that come key by key and in slice order."""
    first = np.ones(len(start), np.bool_)
    first[1:] = (start[1:] != start[:-1]) | (codes[1:] != codes[:-1])
    return Cells(np.cumsum(first) - 1, codes[first], start[first])


def _numbered(codes: Ints, groups: int, number: Ints, starts: Ints) -> Cells:
    pair = codes * len(starts) + number
    if _roomy(groups * len(starts), len(pair)):
        used = np.bincount(pair, minlength=groups * len(starts)) > 0
        occurring, cell = np.flatnonzero(used), (np.cumsum(used) - 1)[pair]
    else:
        occurring, cell = np.unique(pair, return_inverse=True)
    return Cells(cell.astype(np.int64, copy=False), occurring // len(starts), starts[occurring % len(starts)])


def _roomy(cells: int, entries: int) -> bool:
    return cells <= ROOMY * entries + 65_536
