"""Divisor mask: without residues, x modulo L matters only by its greatest common divisor with L.

phi(L / d) of the ticks in a period have the divisor d, so an edge set is a bit mask over the divisors of L. Windows
that all start at a common tick have no residues either: counting from there, every progression starts at 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import gcd, lcm, prod
from operator import getitem, or_

from optimizer.windows.atoms import Atoms, byte_tables
from optimizer.windows.counters.f1 import common_edges
from optimizer.windows.edges import Edges, all_progressions, divisor_weights, factorize_lcm

MOST_DIVISORS = 4096


class Lattice:
    """The divisors of L, their weights, and which of them a slide divides."""

    def __init__(self, factors: Mapping[int, int]) -> None:
        self.weights = divisor_weights(factors)
        self.length = max(self.weights)
        self._tables = byte_tables(list(self.weights.values()))
        self._multiples: dict[int, int] = {}

    def multiples(self, size: int) -> int:
        """Return the ticks that `size` divides, as a mask over the divisors of L.

        >>> whole = Lattice({2: 2, 3: 1})
        >>> list(whole.weights), bin(whole.multiples(6))
        ([1, 2, 3, 4, 6, 12], '0b110000')
        """
        mask = self._multiples.get(size)
        if mask is None:
            mask = sum(1 << place for place, divisor in enumerate(self.weights) if divisor % size == 0)
            self._multiples[size] = mask
        return mask

    def rate(self, edges: Edges) -> Fraction:
        """One OR per slide, one look-up per eight divisors.

        >>> Lattice({2: 2, 3: 1}).rate(((4, 0), (6, 0)))
        Fraction(1, 3)
        """
        mask, multiples = 0, self._multiples
        for size, _ in edges:
            mask |= multiples.get(size) or self.multiples(size)
        octets = mask.to_bytes(len(self._tables), "little")
        return Fraction(sum(map(getitem, self._tables, octets)), self.length)


_LATTICES: dict[int, Lattice] = {}


def lattice(sizes: Iterable[int]) -> Lattice:
    """Return the divisor lattice of the composite slide of some slides; the last few are kept.

    >>> lattice([4, 6]).length
    12
    """
    sizes = list(sizes)
    length = lcm(*sizes)
    divisor_lattice = _LATTICES.get(length)
    if divisor_lattice is None:
        if len(_LATTICES) >= 64:
            _LATTICES.clear()
        divisor_lattice = _LATTICES[length] = Lattice(factorize_lcm(sizes))
    return divisor_lattice


def applies(edges: Edges) -> bool:
    """Return whether all progressions meet in one tick, and the period has few enough divisors.

    >>> applies(((4, 0), (6, 2))), applies(((4, 0), (6, 1)))  # both have 8; an even tick is none of the last one's
    (True, False)
    """
    if any(residue for _, residue in edges) and common_edges(edges) is None:
        return False
    if lcm(*[size for size, _ in edges]) in _LATTICES:
        return True
    factors = factorize_lcm(size for size, _ in edges)
    return prod(exponent + 1 for exponent in factors.values()) <= MOST_DIVISORS


def rate(edges: Edges) -> Fraction:
    """Return the edges in a period over its length.

    >>> rate(((4, 0), (6, 0)))
    Fraction(1, 3)
    """
    return lattice([size for size, _ in edges]).rate(edges)


def atoms(classes: Sequence[Edges]) -> Atoms | None:
    """Return the divisor masks of all classes over one lattice; None where they do not apply.

    >>> few = atoms([((4, 0),), ((6, 0),)])
    >>> few.length, few.count(few.bits_of(0b01)), few.count(few.bits_of(0b11))
    (12, 3, 4)
    >>> atoms([((4, 0),), ((6, 1),)]) is None
    True
    """
    everything = all_progressions(classes)
    if not applies(everything):
        return None
    scale = gcd(*(size for size, _ in everything))
    whole = lattice(size // scale for size, _ in everything)
    bits = [reduce(or_, (whole.multiples(size // scale) for size, _ in edges), 0) for edges in classes]
    return Atoms(whole.length * scale, bits, len(whole.weights), list(whole.weights.values()))
