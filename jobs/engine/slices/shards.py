"""Shards: partials per key, slice and signature; a query's slices are folded from the shards that hold its bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from jobs.engine.events.keys import key_codes
from jobs.engine.events.signatures import unpack_signatures
from jobs.engine.program.program import SIGNATURE, Grouping, MeasureProgram, TreeProgram
from jobs.engine.slices.cells import Cells, cells_of_starts
from jobs.engine.slices.slices import Slices, take_carried
from jobs.engine.slices.tallies import merge_tallies
from jobs.engine.slices.unfold import Shards, Unfolding, order_by_likeness
from jobs.kernels.algebra.operators import COUNT, VALID
from jobs.kernels.arrays import Ints, Rows
from jobs.kernels.slices.combine import merge_rows


class TreeShards:
    """The shards of a tree, from which its slices are folded; the trees that it feeds are levels of those."""

    def __init__(self, shards: Slices, grouping: Grouping, tree: TreeProgram) -> None:
        self.shards, self.tree = shards, tree
        self.keys = key_codes(shards.keys.select(list(grouping.columns)))
        signatures = key_codes(shards.keys.select([SIGNATURE]))
        self.code = signatures.codes[shards.group]
        self.tests = unpack_signatures(signatures.distinct[SIGNATURE], len(tree.bits))
        self.bit = {test.name: number for number, test in enumerate(tree.bits)}
        for base in tree.bases.values():
            if base.carries:
                shards.rows[base.key][:, 1] = np.arange(len(shards.start))

    def slices(self, measures: Sequence[MeasureProgram]) -> tuple[Slices, int]:
        """Return the tree's slices with some measures, and how many shards were folded for all of them together.

        >>> from jobs.engine.events.signatures import signature_column
        >>> from jobs.engine.program.program import Input
        >>> from jobs.kernels.algebra.operators import lift
        >>> base = MeasureProgram("count(*)", "count", COUNT, "int64", "", "", "")
        >>> passing = MeasureProgram("count p", "count", COUNT, "int64", "", "", "p")
        >>> bases, bits = {"count p": base}, (Input("p", "x > 0"),)
        >>> tree = TreeProgram("t", ((10, 0),), "events", 10, (passing,), (), {}, bits=bits, bases=bases)
        >>> signatures = signature_column(np.array([[False], [True]]))  # 3 events that do not pass p, and 4 that do
        >>> keys = pa.table({"key k": ["a", "a"]}).append_column(SIGNATURE, signatures)
        >>> rows = {"count(*)": lift(COUNT, np.array([3, 4]))}
        >>> shards = Slices(keys, np.array([0, 1, 2]), np.array([0, 0]), rows, {})
        >>> slices, folded = TreeShards(shards, Grouping(("k",), (pa.string(),), (tree,)), tree).slices([passing])
        >>> slices.rows["count p"][:, 0].tolist(), folded
        ([4], 1)
        """
        bits = np.array(sorted({self.bit[measure.where] for measure in measures if measure.where}), np.int64)
        everything = any(not measure.where for measure in measures)
        needed = np.flatnonzero(everything | np.asarray(self.tests[:, bits].any(axis=1))[self.code])
        start, groups = self.shards.start[needed], self.keys.distinct.num_rows
        cells = cells_of_starts(start, self.keys.codes[self.shards.group[needed]], groups)
        rows, folded = self._fold(Shards(cells.cell, self.code[needed], needed, self.shards.rows), measures, bits)
        carried: dict[str, pa.Array] = {}
        for measure in measures:
            sources = zip(measure.carries, self.tree.bases[measure.key].carries, strict=True)
            columns = {name: self.shards.carried[source] for name, source in sources}
            carried |= take_carried(measure, rows[measure.key], columns)
            if measure.tally:
                carried |= self._fold_tally(measure, cells, needed)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(cells.code, minlength=groups))])
        return Slices(self.keys.distinct, offsets, cells.start, rows, carried), folded

    def _fold_tally(self, measure: MeasureProgram, cells: Cells, needed: Ints) -> dict[str, pa.Array]:
        """Return the tally of a measure, merged from the shards that pass its predicate."""
        places = np.arange(len(needed))
        if measure.where:
            places = np.flatnonzero(self.tests[self.code[needed], self.bit[measure.where]])
        source = self.tree.bases[measure.key]
        carried, count = self.shards.carried, len(cells.start)
        return merge_tallies(measure, carried, needed[places], cells.cell[places], count, source)

    def _fold(self, shards: Shards, measures: Sequence[MeasureProgram], bits: Ints) -> tuple[dict[str, Rows], int]:
        base = {measure.key: self.tree.bases[measure.key] for measure in measures}
        cells = int(shards.cell.max(initial=-1)) + 1
        rows: dict[str, Rows] = {}
        for measure in measures:
            if not measure.where:
                rows[measure.key] = _merge(base[measure.key], shards, cells)
        folded = len(rows) * len(shards.cell)
        if not len(bits):
            return rows, folded
        by_bit: dict[int, list[MeasureProgram]] = {bit: [] for bit in bits.tolist()}
        for measure in measures:
            if measure.where:
                by_bit[self.bit[measure.where]].append(measure)
        unfolding = Unfolding({bit: [base[m.key] for m in readers] for bit, readers in by_bit.items()}, cells)
        tests = self.tests[:, bits]
        order = np.arange(len(bits)) if unfolding.is_straight(shards, tests) else order_by_likeness(tests)
        for bit, passing in unfolding.by_predicate(shards, tests[:, order], bits[order]):
            for measure in by_bit[bit]:
                rows[measure.key] = _merge(base[measure.key], passing, cells)
                folded += len(passing.cell)
        return rows, folded + unfolding.folded


def _merge(base: MeasureProgram, shards: Shards, cells: int) -> Rows:
    out = merge_rows(base.op, shards.rows[base.key], shards.row, shards.cell, cells)
    if base.op == COUNT:  # of a cell where no event passes, it is 0, not null
        out[:, VALID] = 1
    return out
