"""Shards: partials per key, slice and signature; a query's slices are folded from the shards that hold its bit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.engine.keys import key_codes
from jobs.engine.merge import merge_chosen
from jobs.engine.program import Grouping, MeasureProgram, TreeProgram
from jobs.engine.signatures import SIGNATURE, passed_by
from jobs.engine.slices import Slices, carry
from jobs.kernels.operators import COUNT, VALID, Rows

Ints = npt.NDArray[np.int64]


class Cells(NamedTuple):
    """Shards in slice order: order[i] is a shard, and cell[i] the slice it falls into."""

    order: Ints
    cell: Ints
    first: Ints  # of every slice, where it starts in `order`


def unsharded(shards: Slices, grouping: Grouping, tree: TreeProgram) -> tuple[Slices, int]:
    """A tree's slices from its shards, and how many shards were folded for all measures together."""
    keys = key_codes(shards.keys.select(list(grouping.keys)))
    codes = keys.codes[shards.group]
    cells = _cells(codes, shards.start)
    passed = passed_by(shards.keys[SIGNATURE], len(tree.bits))[shards.group[cells.order]]
    bit = {test.name: number for number, test in enumerate(tree.bits)}
    everything = np.arange(len(cells.order))
    chosen = {test.name: np.flatnonzero(passed[:, bit[test.name]]) for test in tree.bits}
    rows: dict[str, Rows] = {}
    carried: dict[str, pa.Array] = {}
    folded = 0
    for measure in tree.measures:
        held = chosen[measure.where] if measure.where else everything
        folded += len(held)
        base = tree.bases[measure.key]
        rows[measure.key] = _merged(base, shards.rows[base.key], cells, held)
        sources = zip(measure.carries, base.carries, strict=True)
        carried |= carry(measure, rows[measure.key], {name: shards.carried[source] for name, source in sources})
    starts = cells.order[cells.first]
    sizes = np.bincount(codes[starts], minlength=keys.distinct.num_rows)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return Slices(keys.distinct, offsets, shards.start[starts], rows, carried), folded


def _cells(codes: Ints, start: Ints) -> Cells:
    order = np.lexsort((start, codes))
    first = np.ones(len(order), np.bool_)
    first[1:] = (np.diff(codes[order]) != 0) | (np.diff(start[order]) != 0)
    return Cells(order, np.cumsum(first) - 1, np.flatnonzero(first))


def _merged(base: MeasureProgram, rows: Rows, cells: Cells, held: Ints) -> Rows:
    if base.carries:
        rows[:, 1] = np.arange(len(rows))
    out = merge_chosen(base.op, rows, cells.order[held], cells.cell[held], len(cells.first))
    if base.op == COUNT:
        out[:, VALID] = 1
    return out
