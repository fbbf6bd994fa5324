"""The edge classes of one catalog, and the edge rate of any set of them.

A tree's edges are a mask: bit c is set when the tree holds windows of class c. A merge is an OR.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from math import gcd
from operator import or_
from typing import TypeVar

import numpy as np

from optimizer.errors import HeddleError
from optimizer.windows.atoms import Atoms, Floats, LoosePairs, PairTable, WeightedPairs, WordPairs, ones
from optimizer.windows.counters import bit_set, divisor_mask, f1
from optimizer.windows.edges import Edges, Progression, divisors_among, period, union
from optimizer.windows.rates import RecursiveRates, sampled_atoms

MOST_REMEMBERED = 1 << 20
MOST_ROW_BYTES = 1 << 26
MOST_SEARCHED_BITS = 1 << 22  # of all classes together; of more, searches look at samples
BUDGET = 25_000  # progressions visited by recursion for all results together: about half a second
MOST_COUNTED = 16  # classes whose edges searches count by recursion, as exact cascades need it
F1 = "f1"
Value = TypeVar("Value")


class EdgeSpace:
    """Edge rates of sets of classes, remembered; the counter is chosen by what the classes are.

    Divisor masks where no residues are left, bit sets where the period is short, prime recursion for the rest. The
    budget is for recursion: beyond it results are estimated between bounds, and `exact` turns false. Searches, which
    ask for all pairs, look at samples where classes are many or their budget is spent.
    """

    def __init__(self, classes: Sequence[Edges], budget: int = BUDGET, counter: str = "") -> None:
        """Without a counter's name, the quickest one that fits; a named one counts everything or refuses."""
        self.classes, self._counter = tuple(classes), counter
        self._atoms = _atoms_by(counter, self.classes) if self.classes else None
        self._recursive = RecursiveRates(budget)
        self._rates: dict[int, Fraction] = {}
        self._floats: dict[int, float] = {}
        self._rows: dict[int, bytes] = {}

    @property
    def searched(self) -> Atoms | None:
        """The atoms that searches look at; None where they count edges by recursion.

        >>> EdgeSpace([((4, 0),), ((6, 0),)]).searched.length
        12
        """
        return self._searched

    @cached_property
    def _searched(self) -> Atoms | None:
        """What searches look at: few bits of all classes together; None where the edges of few classes are counted."""
        atoms = self._atoms
        if self._counter or not self.classes:
            return atoms
        if atoms is not None and atoms.size * len(self.classes) <= MOST_SEARCHED_BITS:
            return atoms
        if atoms is None and len(self.classes) <= MOST_COUNTED:
            return None
        return self._samples

    @property
    def searches_exactly(self) -> bool:
        """Whether every rate that a search was given so far was counted, not estimated.

        >>> EdgeSpace([((4, 0),), ((6, 0),)]).searches_exactly
        True
        """
        return self._searched is self._atoms and (self._atoms is not None or self._recursive.searching)

    @property
    def exact(self) -> bool:
        """Whether every `rate` given so far is exact.

        >>> EdgeSpace([((4, 0),), ((6, 0),)]).exact
        True
        """
        return self._recursive.exact

    def rate(self, mask: int) -> Fraction:
        """Return the edge rate of the classes in the mask.

        >>> space = EdgeSpace([((4, 0),), ((6, 0),)])
        >>> space.rate(0b01), space.rate(0b11)
        (Fraction(1, 4), Fraction(1, 3))
        """
        rate = self._rates.get(mask)
        if rate is None:
            rate = self._count(mask) if self._atoms is None else self._share(self._atoms, mask)
            _remember(self._rates, mask, rate)
        return rate

    def _count(self, mask: int) -> Fraction:
        """Count the edges of a mask by recursion, or by the counter of this name."""
        if self._counter != F1:
            return self._recursive.rate(self.edges(mask))
        edges = self.edges(mask)
        if edges and not f1.applies(edges):
            raise HeddleError(
                f"f1 takes 2^n steps, too many for a tree of {len(edges)} progressions; use another counter"
            )
        return f1.rate(edges) if edges else Fraction(0)

    def rate_float(self, mask: int) -> float:
        """Return the edge rate as a float, for searches.

        >>> EdgeSpace([((4, 0),), ((6, 0),)]).rate_float(0b01)
        0.25
        """
        rate = self._floats.get(mask)
        if rate is None and self._counter == F1:
            rate = float(self.rate(mask))
            _remember(self._floats, mask, rate)
        if rate is None:
            recursive = self._searched is None and self._recursive.searching
            counted = self._recursive.rate_float(self.edges(mask)) if recursive else None
            rate = self._weight(mask) if counted is None else counted
            _remember(self._floats, mask, rate)
        return rate

    def pair_rates(self, mask: int, masks: Sequence[int]) -> Floats:
        """Return the edge rates of `mask` merged with each of `masks`.

        >>> EdgeSpace([((4, 0),), ((2, 0),)]).pair_rates(0b01, [0b01, 0b10]).tolist()
        [0.25, 0.5]
        """
        atoms = self._searched
        if atoms is None:
            return np.array([self.rate_float(mask | other) for other in masks])
        rows = atoms.rows([self._row(atoms, other) for other in masks])
        return atoms.rates(rows | atoms.rows([self._row(atoms, mask)]))

    def pair_table(self, masks: Sequence[int]) -> PairTable:
        """Return a table of pair rates for a search that merges: masks are kept as rows and rewritten in place.

        >>> table = EdgeSpace([((4, 0),), ((2, 0),)]).pair_table([0b01, 0b10])
        >>> table.merge(0, 1)
        >>> table.rates(0).tolist()
        [0.5, 0.5]
        """
        atoms = self._searched
        if atoms is None:
            return LoosePairs(self.rate_float, masks)
        rows = atoms.rows([self._row(atoms, mask) for mask in masks])
        if atoms.weights is None:
            return WordPairs(atoms, rows.copy())
        return WeightedPairs(atoms, atoms.weights, rows)

    def contains(self, outer: int, inner: int) -> bool:
        """Return whether the edges of `outer` contain those of `inner`; an estimate never says yes.

        >>> space = EdgeSpace([((4, 0),), ((2, 0),)])
        >>> space.contains(outer=0b10, inner=0b01), space.contains(outer=0b01, inner=0b10)
        (True, False)
        """
        if inner & ~outer == 0:
            return True
        if self._atoms is not None:
            return not self._atoms.bits_of(inner) & ~self._atoms.bits_of(outer)
        samples = self._searched  # an edge of `inner` that `outer` does not have is proof enough
        if samples is not None and samples.bits_of(inner) & ~samples.bits_of(outer):
            return False
        if all(outer & self._hosts(*progression) for part in self._parts(inner & ~outer) for progression in part):
            return True
        few = len(self.classes) <= MOST_COUNTED
        return few and self._recursive.contains(self.edges(outer), self.edges(inner))

    def class_rates(self) -> Floats:
        """Return the edge rate of every class alone.

        >>> EdgeSpace([((4, 0),), ((4, 0), (4, 1))]).class_rates().tolist()
        [0.25, 0.5]
        """
        single = [len(part) / part[0][0] if part[0][0] == part[-1][0] else 0.0 for part in self.classes]
        return np.array([rate or self.rate_float(1 << number) for number, rate in enumerate(single)])

    def _hosts(self, size: int, residue: int) -> int:
        """Return the classes that have a progression which contains this one, as a mask."""
        hosts = self._host_masks.get((size, residue))
        if hosts is None:
            step, sizes, owners = self._owners
            outer_sizes = divisors_among(size, sizes, step)
            hosts = reduce(or_, (owners.get((outer, residue % outer), 0) for outer in outer_sizes), 0)
            self._host_masks[size, residue] = hosts
        return hosts

    @cached_property
    def _host_masks(self) -> dict[Progression, int]:
        return {}

    @cached_property
    def _owners(self) -> tuple[int, frozenset[int], dict[Progression, int]]:
        """The common divisor of all periods, the periods, and the classes that have each progression."""
        owners: dict[Progression, int] = {}
        for number, part in enumerate(self.classes):
            for progression in part:
                owners[progression] = owners.get(progression, 0) | 1 << number
        sizes = frozenset(size for size, _ in owners)
        return gcd(*sizes), sizes, owners

    def composite_slide(self, mask: int) -> int:
        """After how many ticks the edges of the mask repeat.

        >>> EdgeSpace([((4, 0),), ((6, 0),)]).composite_slide(0b11)
        12
        """
        return period(progression for part in self._parts(mask) for progression in part)

    def edges(self, mask: int) -> Edges:
        """Return the progressions of the mask.

        >>> EdgeSpace([((4, 0),), ((6, 0),)]).edges(0b11)
        ((4, 0), (6, 0))
        """
        return union(self._parts(mask))

    def bounds(self, mask: int) -> tuple[Fraction, Fraction]:
        """Between which two rates the true one lies; equal when it is exact.

        >>> EdgeSpace([((4, 0),), ((6, 0),)]).bounds(0b11)
        (Fraction(1, 3), Fraction(1, 3))
        """
        rate = self.rate(mask)
        return (rate, rate) if self._atoms is not None else self._recursive.bounds(self.edges(mask), rate)

    def _parts(self, mask: int) -> Iterator[Edges]:
        return (self.classes[place] for place in ones(mask))

    def _share(self, atoms: Atoms, mask: int) -> Fraction:
        return Fraction(atoms.count(atoms.bits_of(mask)), atoms.length)

    def _weight(self, mask: int) -> float:
        """Return the weight of the atoms of the mask; of samples, for searches whose budget is spent."""
        atoms = self._searched or self._samples
        return atoms.count(atoms.bits_of(mask)) / atoms.length

    @cached_property
    def _samples(self) -> Atoms:
        return sampled_atoms(self.classes)

    def _row(self, atoms: Atoms, mask: int) -> bytes:
        """Return the atoms of the mask as bytes, kept while they take little room."""
        row = self._rows.get(mask)
        if row is None:
            row = atoms.row(atoms.bits_of(mask))
            if len(self._rows) * len(row) > MOST_ROW_BYTES:
                self._rows.clear()
            self._rows[mask] = row
        return row


def _atoms_by(counter: str, classes: Sequence[Edges]) -> Atoms | None:
    """Return the atoms of the classes by the counter of this name, or by the first that has any."""
    by_name = {"divisor_mask": divisor_mask.atoms, "bit_set": bit_set.atoms}
    if counter not in by_name:
        return None if counter else divisor_mask.atoms(classes) or bit_set.atoms(classes)
    atoms = by_name[counter](classes)
    if atoms is None:
        needs = "windows without residues" if counter == "divisor_mask" else "a short composite slide"
        raise HeddleError(f"{counter} needs {needs}, which these queries do not have; use prime_recursion or auto")
    return atoms


@lru_cache(maxsize=1 << 10)
def rate_of_edges(edges: Edges) -> Fraction:
    """Return the rate of one edge set, exact within the budget; the last ones are remembered.

    >>> rate_of_edges(((4, 0), (6, 0)))
    Fraction(1, 3)
    """
    return EdgeSpace([edges]).rate(1)


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
