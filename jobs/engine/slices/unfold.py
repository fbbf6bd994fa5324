"""Unfolding: from the shards of many predicates to the partials of each.

To fold every shard once for every predicate that it passes takes k * beta folds. But half of the predicates tell fewer
signatures apart, so shards are first folded into those of either half, these again, and so on, wherever that takes
fewer folds. Predicates that pass much the same shards stay together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jobs.engine.events.keys import renumber_used
from jobs.engine.events.signatures import number_signatures
from jobs.engine.program.program import MeasureProgram
from jobs.kernels.arrays import Bools, Ints
from jobs.kernels.slices.combine import merge_rows

LEAST = 2  # predicates that a shard passes on average, below which it is folded straight into their partials


class Shards(NamedTuple):
    """Shard i lies in cell[i] and has the signature code[i]; its partials are in row[i] of every measure's rows."""

    cell: Ints
    code: Ints
    row: Ints
    rows: Mapping[str, npt.NDArray[np.float64] | Ints]


class Unfolding:
    """Unfolds shards; `bases` are the measures that each predicate asks for."""

    def __init__(self, bases: Mapping[int, Sequence[MeasureProgram]], cells: int) -> None:
        self.bases, self.cells = bases, cells
        self.folded = 0

    def each(self, shards: Shards, tests: Bools, bits: Ints) -> Iterator[tuple[int, Shards]]:
        """Every predicate (a column of the tests) with shards of it alone."""
        if len(bits) == 1:
            held = np.flatnonzero(tests[shards.code, 0])
            yield int(bits[0]), shards._replace(cell=shards.cell[held], code=shards.code[held], row=shards.row[held])
            return
        middle = len(bits) // 2
        for half in (slice(None, middle), slice(middle, None)):
            yield from self.each(*self._fewer(shards, tests[:, half], bits[half]), bits[half])

    def _fewer(self, shards: Shards, tests: Bools, bits: Ints) -> tuple[Shards, Bools]:
        """The shards of some of the predicates, those alike folded into one where that pays."""
        held = np.flatnonzero(np.asarray(tests.any(axis=1))[shards.code])
        codes, tests = number_signatures(np.packbits(tests, axis=1, bitorder="little"), tests.shape[1])
        passed = tests.sum(axis=1)
        kept = Shards(shards.cell[held], codes[shards.code[held]], shards.row[held], shards.rows)
        folds = int(passed[kept.code].sum())
        if folds <= LEAST * len(held):
            return kept, tests
        used, place = renumber_used(kept.cell * len(tests) + kept.code, self.cells * len(tests))
        if len(held) + int(passed[used % len(tests)].sum()) >= folds:
            return kept, tests
        bases = {base.key: base for bit in bits.tolist() for base in self.bases[bit]}
        self.folded += len(held) * len(bases)
        rows = {key: merge_rows(base.op, kept.rows[key], kept.row, place, len(used)) for key, base in bases.items()}
        return Shards(used // len(tests), used % len(tests), np.arange(len(used)), rows), tests


def order_by_likeness(tests: Bools) -> Ints:
    """The predicates in an order in which neighbours pass much the same signatures: each time the nearest one left."""
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
