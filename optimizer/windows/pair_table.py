"""Edge rates of one tree merged with every other, for searches that look at all pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from optimizer.windows.atoms import Atoms, Floats, Words


class PairTable(Protocol):
    """One row per tree."""

    def rates(self, row: int) -> Floats:
        """The edge rate of `row` merged with every row, itself included."""

    def merge(self, into: int, other: int) -> None:
        """Weave `other` into `into`; the row of `other` is left empty."""


class WordPairs:
    """Rows of bits, one tick each: a merge is an OR of words."""

    def __init__(self, atoms: Atoms, rows: Words) -> None:
        self._atoms = atoms
        self._rows = rows

    def rates(self, row: int) -> Floats:
        """The edge rate of `row` merged with every row, itself included."""
        return self._atoms.rates(self._rows | self._rows[row])

    def merge(self, into: int, other: int) -> None:
        """Weave `other` into `into`; the row of `other` is left empty."""
        self._rows[into] |= self._rows[other]
        self._rows[other] = 0


class WeightedPairs:
    """Rows of zeros and ones over few weighted atoms: what a row adds to another is a product."""

    def __init__(self, atoms: Atoms, weights: Floats, rows: Words) -> None:
        self._rows = atoms.spread(rows)
        self._weights = weights
        self._length = atoms.length

    def rates(self, row: int) -> Floats:
        """The edge rate of `row` merged with every row, itself included."""
        own = self._rows[row]
        added: Floats = self._rows @ (self._weights * (1 - own))
        total: Floats = added + own @ self._weights
        return total / self._length

    def merge(self, into: int, other: int) -> None:
        """Weave `other` into `into`; the row of `other` is left empty."""
        np.maximum(self._rows[into], self._rows[other], out=self._rows[into])
        self._rows[other] = 0


class LoosePairs:
    """Masks, asked one by one, where the edges have no atoms."""

    def __init__(self, rate: Callable[[int], float], masks: Sequence[int]) -> None:
        self._rate = rate
        self._masks = list(masks)

    def rates(self, row: int) -> Floats:
        """The edge rate of `row` merged with every row, itself included."""
        return np.array([self._rate(self._masks[row] | mask) for mask in self._masks])

    def merge(self, into: int, other: int) -> None:
        """Weave `other` into `into`; the row of `other` is left empty."""
        self._masks[into] |= self._masks[other]
        self._masks[other] = 0
