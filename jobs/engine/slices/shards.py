"""Shards: partials per key, slice and signature; a query's slices are folded from the shards that hold its bit.

To fold every shard once for every predicate that it passes takes k * beta folds. But half of the predicates tell
fewer signatures apart, so shards are first folded into those of either half, these again, and so on, wherever that
takes fewer folds. Predicates that pass much the same shards stay together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.engine.events.keys import combine_codes, key_codes, number_signatures, unpack_signatures
from jobs.engine.program.program import SIGNATURE, Grouping, MeasureProgram, TreeProgram
from jobs.engine.slices.cells import Cells, cells_of_starts
from jobs.engine.slices.slices import Slices, take_carried
from jobs.engine.slices.tallies import merge_tallies
from jobs.kernels.algebra.operators import COUNT, VALID
from jobs.kernels.arrays import Bools, Ints, Rows
from jobs.kernels.slices.accumulate import merge_rows

LEAST = 2  # predicates that a shard passes on average, below which it is folded straight into their partials


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

        >>> from jobs.engine.events.keys import signature_column
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


class Shards(NamedTuple):
    """Shard i lies in cell[i] and has the signature code[i]; its partials are in row[i] of every measure's rows."""

    cell: Ints
    code: Ints
    row: Ints
    rows: Mapping[str, npt.NDArray[np.float64] | Ints]


class Unfolding:
    """Unfolds shards into those of every predicate. `bases` are the measures that each predicate needs.

    Two shards in one cell, of the signatures (1, 1) and (0, 1): the first passes predicates 0 and 1, the second only 1.

    >>> from jobs.kernels.algebra.operators import COUNT, lift
    >>> count = MeasureProgram("count(*)", "count", COUNT, "int64", "", "", "")
    >>> shards = Shards(np.array([0, 0]), np.array([0, 1]), np.arange(2), {"count(*)": lift(COUNT, np.array([3, 4]))})
    >>> tests = np.array([[True, True], [False, True]])
    >>> unfolding = Unfolding({0: [count], 1: [count]}, cells=1)
    >>> {bit: passing.row.tolist() for bit, passing in unfolding.by_predicate(shards, tests, np.arange(2))}
    {0: [0], 1: [0, 1]}
    """

    def __init__(self, bases: Mapping[int, Sequence[MeasureProgram]], cells: int) -> None:
        self.bases, self.cells = bases, cells
        self.folded = 0

    def by_predicate(self, shards: Shards, tests: Bools, bits: Ints) -> Iterator[tuple[int, Shards]]:
        """Yield every predicate (a column of the tests) with the shards that pass it, and none that do not."""
        if self.is_straight(shards, tests):
            yield from _straight(shards, tests, bits)
            return
        if len(bits) == 1:
            passing = np.flatnonzero(tests[shards.code, 0])
            cell, code, row = shards.cell[passing], shards.code[passing], shards.row[passing]
            yield int(bits[0]), shards._replace(cell=cell, code=code, row=row)
            return
        middle = len(bits) // 2
        for half in (slice(None, middle), slice(middle, None)):
            yield from self.by_predicate(*self._fold_alike(shards, tests[:, half], bits[half]), bits[half])

    @staticmethod
    def is_straight(shards: Shards, tests: Bools) -> bool:
        """Whether shards pass so few predicates that each is folded straight into their partials."""
        return bool(tests.sum(axis=1)[shards.code].sum() <= LEAST * len(shards.code))

    def _fold_alike(self, shards: Shards, tests: Bools, bits: Ints) -> tuple[Shards, Bools]:
        """Return the shards of some of the predicates; equal signatures are folded into one where that pays."""
        passing = np.flatnonzero(np.asarray(tests.any(axis=1))[shards.code])
        codes, tests = number_signatures(np.packbits(tests, axis=1, bitorder="little"), tests.shape[1])
        passed = tests.sum(axis=1)
        fewer = Shards(shards.cell[passing], codes[shards.code[passing]], shards.row[passing], shards.rows)
        folds = int(passed[fewer.code].sum())
        if folds <= LEAST * len(passing):
            return fewer, tests
        place, (cell, code) = combine_codes([(fewer.cell, self.cells), (fewer.code, len(tests))])
        if len(passing) + int(passed[code].sum()) >= folds:
            return fewer, tests
        bases = {base.key: base for bit in bits.tolist() for base in self.bases[bit]}
        self.folded += len(passing) * len(bases)
        rows = {key: merge_rows(base.op, fewer.rows[key], fewer.row, place, len(cell)) for key, base in bases.items()}
        return Shards(cell, code, np.arange(len(cell)), rows), tests


def _straight(shards: Shards, tests: Bools, bits: Ints) -> Iterator[tuple[int, Shards]]:
    """Yield every predicate with the shards that pass it, at the price of those pairs, however many predicates."""
    signature, column = np.nonzero(tests)
    passed = np.bincount(signature, minlength=len(tests))
    first = np.cumsum(passed) - passed  # where the predicates of each signature begin
    times = passed[shards.code]
    shard = np.repeat(np.arange(len(times)), times)
    within = np.arange(len(shard)) - np.repeat(np.cumsum(times) - times, times)
    predicate = column[first[shards.code[shard]] + within]
    order = np.argsort(predicate, kind="stable")
    ends = np.cumsum(np.bincount(predicate, minlength=len(bits)))
    for number, bit in enumerate(bits.tolist()):
        passing = shard[order[ends[number - 1] if number else 0 : ends[number]]]
        cell, code, row = shards.cell[passing], shards.code[passing], shards.row[passing]
        yield bit, shards._replace(cell=cell, code=code, row=row)


def order_by_likeness(tests: Bools) -> Ints:
    """Return the predicates in an order in which neighbours pass much the same signatures: next is the nearest left.

    >>> order_by_likeness(np.array([[True, False, True], [True, False, True], [False, True, True]])).tolist()
    [2, 0, 1]
    """
    passed = tests.astype(np.float32)
    common = passed.T @ passed
    size = np.diag(common)
    distance = size[:, None] + size[None, :] - 2 * common
    order = [int(np.argmax(size))]
    left = np.ones(len(size), np.bool_)
    left[order] = False
    while left.any():
        order.append(int(np.argmin(np.where(left, distance[order[-1]], np.inf))))
        left[order[-1]] = False
    return np.array(order, np.int64)
