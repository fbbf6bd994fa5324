"""Atoms: ticks that the same classes have as edges are counted together.

An edge set is an integer with one bit per atom, a merge is an OR, and a rate is the weight of the bits over the
length. A pair table has the rates of one tree merged with every other, for searches that look at all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import getitem, or_
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
MOST_OCTET_BITS = 1 << 15
MOST_REMEMBERED_BITS = 1 << 28


class Atoms:
    """What a catalog's atoms weigh, and which of them every class has."""

    def __init__(self, length: int, bits: Sequence[int], size: int, weights: Sequence[int] | None = None) -> None:
        """`size` atoms in a period of `length` ticks; without `weights` every atom is one tick."""
        self.length = length
        self.bits = tuple(bits)
        self.size = size
        self._bits_of: dict[int, int] = {}
        self._octets: dict[tuple[int, int], int] = {}
        self._tables = None if weights is None else byte_tables(weights)
        # whole numbers while they fit: sums are then exact, whatever their order
        self.weights = None if weights is None else np.array(weights, dtype=np.float64)

    def count(self, bits: int) -> int:
        """Return the ticks of a period that the bits stand for.

        >>> Atoms(12, [0b011, 0b101], 3, [1, 2, 3]).count(0b111)  # weights 1, 2 and 3
        6
        """
        if self._tables is None:
            return bits.bit_count()
        octets = bits.to_bytes(len(self._tables), "little")
        return sum(map(getitem, self._tables, octets))

    def bits_of(self, mask: int) -> int:
        """Return the atoms of a set of classes, eight classes at a time; the last sets are remembered.

        >>> bin(Atoms(12, [0b011, 0b101], 3).bits_of(0b11))  # both classes
        '0b111'
        """
        bits = self._bits_of.get(mask)
        if bits is None:
            bits = self._join(mask)
            if len(self._bits_of) * self.size > MOST_REMEMBERED_BITS:
                self._bits_of.clear()
            self._bits_of[mask] = bits
        return bits

    def _join(self, mask: int) -> int:
        bits = 0
        for place, octet in enumerate(mask.to_bytes((mask.bit_length() + 7) // 8, "little")):
            if octet:
                part = self._octets.get((place, octet))
                if part is None:
                    part = reduce(or_, [self.bits[8 * place + bit] for bit in ones(octet)])
                    if self.size <= MOST_OCTET_BITS:
                        self._octets[place, octet] = part
                bits |= part
        return bits

    def row(self, bits: int) -> bytes:
        """Return an edge set as 64-bit words, little end first.

        >>> Atoms(12, [], 12).row(0b1001).hex()
        '0900000000000000'
        """
        return bits.to_bytes(-(-self.size // 64) * 8, "little")

    def rows(self, edge_sets: Sequence[bytes]) -> Words:
        """Edge sets as the rows of a matrix of words.

        >>> atoms = Atoms(12, [], 12)
        >>> atoms.rows([atoms.row(0b1001), atoms.row(0b1)]).tolist()
        [[9], [1]]
        """
        return np.frombuffer(b"".join(edge_sets), dtype="<u8").reshape(len(edge_sets), -1)

    def spread(self, rows: Words) -> Floats:
        """Return rows of words as rows of zeros and ones, one per atom.

        >>> Atoms(12, [], 4).spread(np.array([[0b1001]], dtype=np.uint64)).tolist()
        [[1.0, 0.0, 0.0, 1.0]]
        """
        octets = np.ascontiguousarray(rows, dtype="<u8").view(np.uint8)
        return np.unpackbits(octets, axis=1, count=self.size, bitorder="little").astype(np.float64)

    def rates(self, rows: Words) -> Floats:
        """Return the rate of every row.

        >>> Atoms(12, [], 12).rates(np.array([[0b1001001001], [0b1]], dtype=np.uint64)).round(4).tolist()
        [0.3333, 0.0833]
        """
        counts: Floats
        if self.weights is None:
            counts = np.bitwise_count(rows).sum(axis=1, dtype=np.float64)
        else:
            counts = self.spread(rows) @ self.weights
        return counts / self.length


def byte_tables(weights: Sequence[int]) -> list[list[int]]:
    """For every eight atoms, the weight of each of the 256 ways to choose among them.

    >>> byte_tables([1, 2, 4])[0]  # nothing, the first, the second, both, ...
    [0, 1, 2, 3, 4, 5, 6, 7]
    >>> len(byte_tables([1] * 12))
    2
    """
    tables = []
    for start in range(0, len(weights), 8):
        table = [0]
        for weight in weights[start : start + 8]:
            table += [weight + other for other in table]
        tables.append(table)
    return tables


def ones(mask: int) -> Iterator[int]:
    """Return the places of the bits that are set, ascending.

    >>> list(ones(0b1101))
    [0, 2, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class PairTable(Protocol):
    """A table with an edge set per tree, for the rates of merged pairs."""

    def rates(self, row: int) -> Floats:
        """Return the edge rate of `row` merged with every row, itself included."""

    def merge(self, into: int, other: int) -> None:
        """Weave `other` into `into`; the row of `other` is left empty."""


class WordPairs:
    """Rows of bits, one tick each: a merge is an OR of words."""

    def __init__(self, atoms: Atoms, rows: Words) -> None:
        self._atoms = atoms
        self._rows = rows

    def rates(self, row: int) -> Floats:
        """Return the edge rate of `row` merged with every row, itself included.

        >>> table = WordPairs(Atoms(4, [], 4), np.array([[0b0001], [0b0011]], dtype=np.uint64))
        >>> table.rates(0).tolist()
        [0.25, 0.5]
        """
        return self._atoms.rates(self._rows | self._rows[row])

    def merge(self, into: int, other: int) -> None:
        """Weave `other` into `into`; the row of `other` is left empty.

        >>> table = WordPairs(Atoms(4, [], 4), np.array([[0b0001], [0b0010]], dtype=np.uint64))
        >>> table.merge(0, 1)
        >>> table.rates(0).tolist()
        [0.5, 0.5]
        """
        self._rows[into] |= self._rows[other]
        self._rows[other] = 0


class WeightedPairs:
    """Rows of zeros and ones over few weighted atoms: what a row adds to another is a product over its own atoms."""

    def __init__(self, atoms: Atoms, weights: Floats, rows: Words) -> None:
        self._columns = np.ascontiguousarray(atoms.spread(rows).T)  # by atom, so that a few atoms are read at once
        self._weights = weights
        self._totals: Floats = weights @ self._columns
        self._length = atoms.length

    def rates(self, row: int) -> Floats:
        """Return the edge rate of `row` merged with every row, itself included.

        >>> atoms = Atoms(6, [], 2, [1, 2])
        >>> table = WeightedPairs(atoms, atoms.weights, np.array([[0b01], [0b10]], dtype=np.uint64))
        >>> table.rates(0).round(3).tolist()
        [0.167, 0.5]
        """
        inside = self._columns[:, row] > 0
        if 2 * np.count_nonzero(inside) <= len(inside):
            common: Floats = self._weights[inside] @ self._columns[inside]
            weights = self._totals + (self._totals[row] - common)
        else:
            weights = self._totals[row] + self._weights[~inside] @ self._columns[~inside]
        rates: Floats = weights / self._length
        return rates

    def merge(self, into: int, other: int) -> None:
        """Weave `other` into `into`; the row of `other` is left empty.

        >>> atoms = Atoms(6, [], 2, [1, 2])
        >>> table = WeightedPairs(atoms, atoms.weights, np.array([[0b01], [0b10]], dtype=np.uint64))
        >>> table.merge(0, 1)
        >>> table.rates(1).round(3).tolist()
        [0.5, 0.0]
        """
        np.maximum(self._columns[:, into], self._columns[:, other], out=self._columns[:, into])
        self._columns[:, other] = 0
        self._totals[other] = 0.0
        self._totals[into] = self._weights @ self._columns[:, into]


class LoosePairs:
    """Masks, asked one by one, where the edges have no atoms."""

    def __init__(self, rate: Callable[[int], float], masks: Sequence[int]) -> None:
        self._rate = rate
        self._masks = list(masks)

    def rates(self, row: int) -> Floats:
        """Return the edge rate of `row` merged with every row, itself included.

        >>> LoosePairs(lambda mask: mask.bit_count() / 4, [0b01, 0b10]).rates(0).tolist()
        [0.25, 0.5]
        """
        return np.array([self._rate(self._masks[row] | mask) for mask in self._masks])

    def merge(self, into: int, other: int) -> None:
        """Weave `other` into `into`; the row of `other` is left empty.

        >>> table = LoosePairs(lambda mask: mask.bit_count() / 4, [0b01, 0b10])
        >>> table.merge(0, 1)
        >>> table.rates(1).tolist()
        [0.5, 0.0]
        """
        self._masks[into] |= self._masks[other]
        self._masks[other] = 0
