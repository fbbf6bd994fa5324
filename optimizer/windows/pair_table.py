"""Edge rates of one tree merged with every other, for searches that look at all pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from optimizer.windows.atoms import Atoms, Floats, Words


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
