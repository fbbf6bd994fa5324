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

from jobs.engine.events.keys import combine_codes
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
