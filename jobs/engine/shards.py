"""Shards: partials per key, slice and signature; a query's slices are folded from the shards that hold its bit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.engine.cells import Cells, cells_of_starts
from jobs.engine.keys import key_codes
from jobs.engine.merge import merge_rows
from jobs.engine.program import Grouping, MeasureProgram, TreeProgram
from jobs.engine.signatures import SIGNATURE, passed_by
from jobs.engine.slices import Slices, carry
from jobs.kernels.operators import COUNT, VALID, Rows

Ints = npt.NDArray[np.int64]


def unsharded(shards: Slices, grouping: Grouping, tree: TreeProgram) -> tuple[Slices, int]:
    """A tree's slices from its shards, and how many shards were folded for all measures together."""
    keys = key_codes(shards.keys.select(list(grouping.keys)))
    groups = keys.distinct.num_rows
    cells = cells_of_starts(shards.start, keys.codes[shards.group], groups)
    passed = passed_by(shards.keys[SIGNATURE], len(tree.bits))[shards.group]
    bit = {test.name: number for number, test in enumerate(tree.bits)}
    everything = np.arange(len(shards.start))
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
    offsets = np.concatenate([[0], np.cumsum(np.bincount(cells.code, minlength=groups))])
    return Slices(keys.distinct, offsets, cells.start, rows, carried), folded


def _merged(base: MeasureProgram, rows: Rows, cells: Cells, held: Ints) -> Rows:
    if base.carries:
        rows[:, 1] = np.arange(len(rows))
    out = merge_rows(base.op, rows, held, cells.cell[held], len(cells.start))
    if base.op == COUNT:
        out[:, VALID] = 1
    return out
