"""The edge classes of one catalog, and the edge rate of any set of them.

A tree's edges are a mask: bit c is set when the tree holds windows of class c. A merge is an OR.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from operator import or_
from typing import TypeVar

import numpy as np

from optimizer.windows.atoms import Atoms, Floats
from optimizer.windows.counters import bit_set, divisor_mask, sampled, stretch
from optimizer.windows.counters.prime_recursion import BUDGET
from optimizer.windows.edges import Edges, period, union
from optimizer.windows.pair_table import LoosePairs, PairTable, WeightedPairs, WordPairs
from optimizer.windows.rates import RecursiveRates

MOST_REMEMBERED = 1 << 20
MOST_ROW_BYTES = 1 << 26
MOST_OCTET_BITS = 1 << 15
Value = TypeVar("Value")


class EdgeSpace:
    """Edge rates of sets of classes, remembered; the counter is chosen by what the classes are.

    Divisor masks where no residues are left, bit sets where the period is short, prime recursion for the rest. The
    budget is for recursion: beyond it results are estimated between bounds, and `exact` turns false. Searches, which
    ask for all pairs, look at a stretch of time where classes are many, and go on with samples when their budget is
    spent.
    """

    def __init__(self, classes: Sequence[Edges], budget: int = BUDGET) -> None:
        self.classes = tuple(classes)
        self._atoms = (divisor_mask.atoms(self.classes) or bit_set.atoms(self.classes)) if self.classes else None
        self._searched = self._atoms or (stretch.atoms(self.classes) if self.classes else None)
        self._recursive = RecursiveRates(budget)
        self._rates: dict[int, Fraction] = {}
        self._floats: dict[int, float] = {}
        self._rows: dict[int, bytes] = {}
        self._octets: dict[tuple[int, int], int] = {}

    @property
    def exact(self) -> bool:
        """Whether every `rate` given so far is exact."""
        return self._recursive.exact

    def rate(self, mask: int) -> Fraction:
        """The edge rate of the classes in the mask."""
        rate = self._rates.get(mask)
        if rate is None:
            rate = self._recursive.rate(self.edges(mask)) if self._atoms is None else self._share(self._atoms, mask)
            _remember(self._rates, mask, rate)
        return rate

    def rate_float(self, mask: int) -> float:
        """The edge rate as a float, for searches."""
        rate = self._floats.get(mask)
        if rate is None:
            recursive = self._searched is None and self._recursive.searching
            counted = self._recursive.rate_float(self.edges(mask)) if recursive else None
            rate = self._weight(mask) if counted is None else counted
            _remember(self._floats, mask, rate)
        return rate

    def pair_rates(self, mask: int, masks: Sequence[int]) -> Floats:
        """The edge rates of `mask` merged with each of `masks`."""
        atoms = self._searched
        if atoms is None:
            return np.array([self.rate_float(mask | other) for other in masks])
        rows = atoms.rows([self._row(atoms, other) for other in masks])
        return atoms.rates(rows | atoms.rows([self._row(atoms, mask)]))

    def pair_table(self, masks: Sequence[int]) -> PairTable:
        """The same for a search that merges: the masks are kept as rows and rewritten in place."""
        atoms = self._searched
        if atoms is None:
            return LoosePairs(self.rate_float, masks)
        rows = atoms.rows([self._row(atoms, mask) for mask in masks])
        if atoms.weights is None:
            return WordPairs(atoms, rows.copy())
        return WeightedPairs(atoms, atoms.weights, rows)

    def contains(self, outer: int, inner: int) -> bool:
        """Whether the edges of `outer` contain those of `inner`; an estimate never says yes."""
        if inner & ~outer == 0:
            return True
        atoms = self._searched
        if atoms is not None and self._bits(atoms, inner) & ~self._bits(atoms, outer):
            return False
        return self._atoms is not None or self._recursive.contains(self.edges(outer), self.edges(inner))

    def composite_slide(self, mask: int) -> int:
        """After how many ticks the edges of the mask repeat."""
        return period(progression for part in self._parts(mask) for progression in part)

    def edges(self, mask: int) -> Edges:
        """The progressions of the mask."""
        return union(self._parts(mask))

    def bounds(self, mask: int) -> tuple[Fraction, Fraction]:
        """Between which two rates the true one lies; equal when it is exact."""
        rate = self.rate(mask)
        return (rate, rate) if self._atoms is not None else self._recursive.bounds(self.edges(mask), rate)

    def _parts(self, mask: int) -> Iterator[Edges]:
        return (self.classes[place] for place in ones(mask))

    def _share(self, atoms: Atoms, mask: int) -> Fraction:
        return Fraction(atoms.count(self._bits(atoms, mask)), atoms.length)

    def _weight(self, mask: int) -> float:
        """The weight of the atoms of the mask; of samples, for searches whose budget is spent."""
        atoms = self._searched or self._samples
        return atoms.count(self._bits(atoms, mask)) / atoms.length

    @cached_property
    def _samples(self) -> Atoms:
        return sampled.atoms(self.classes)

    def _row(self, atoms: Atoms, mask: int) -> bytes:
        """The atoms of the mask as bytes, kept while they take little room."""
        row = self._rows.get(mask)
        if row is None:
            row = atoms.row(self._bits(atoms, mask))
            if len(self._rows) * len(row) > MOST_ROW_BYTES:
                self._rows.clear()
            self._rows[mask] = row
        return row

    def _bits(self, atoms: Atoms, mask: int) -> int:
        """The atoms of the mask, eight classes at a time."""
        bits = 0
        for place, octet in enumerate(mask.to_bytes((mask.bit_length() + 7) // 8, "little")):
            if octet:
                part = self._octets.get((place, octet))
                if part is None:
                    part = reduce(or_, [atoms.bits[8 * place + bit] for bit in ones(octet)])
                    if atoms.size <= MOST_OCTET_BITS:
                        self._octets[place, octet] = part
                bits |= part
        return bits


def ones(mask: int) -> Iterator[int]:
    """Return the places of the bits that are set, ascending.

    >>> list(ones(0b1101))
    [0, 2, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(places: Iterable[int]) -> int:
    """Return the mask with the bits at these places set.

    >>> mask_of([0, 2, 3])
    13
    """
    mask = 0
    for place in places:
        mask |= 1 << place
    return mask


def _remember(memo: dict[int, Value], mask: int, value: Value) -> None:
    if len(memo) >= MOST_REMEMBERED:
        memo.clear()
    memo[mask] = value
