"""The edge classes of one catalog, and exact edge rates of any set of them.

A tree's edges are a mask: bit c is set when the tree holds windows of class c. A merge is an OR.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from optimizer.windows.counters import bit_set, prime_recursion
from optimizer.windows.edges import Progressions, period, union


class EdgeSpace:
    """Edge rates of sets of classes, exact and remembered; the counter is chosen by what the classes are."""

    def __init__(self, classes: Sequence[Progressions]) -> None:
        self.classes = tuple(classes)
        self._rates: dict[int, Fraction] = {}
        self._floats: dict[int, float] = {}

    @property
    def exact(self) -> bool:
        """Whether every rate given so far is exact."""
        return True

    def rate(self, mask: int) -> Fraction:
        """The edge rate of the classes in the mask."""
        if mask not in self._rates:
            self._rates[mask] = self._count(self.edges(mask))
        return self._rates[mask]

    def rate_float(self, mask: int) -> float:
        """The edge rate as a float, for searches."""
        if mask not in self._floats:
            self._floats[mask] = float(self.rate(mask))
        return self._floats[mask]

    def pair_rates(self, mask: int, masks: Iterable[int]) -> NDArray[np.float64]:
        """The edge rates of `mask` merged with each of `masks`."""
        return np.array([self.rate_float(mask | other) for other in masks])

    def contains(self, outer: int, inner: int) -> bool:
        """Whether the edges of `outer` contain those of `inner`."""
        return self.rate(outer | inner) == self.rate(outer)

    def composite_slide(self, mask: int) -> int:
        """After how many ticks the edges of the mask repeat."""
        return period(progression for part in self._parts(mask) for progression in part)

    def edges(self, mask: int) -> Progressions:
        """The progressions of the mask."""
        return union(self._parts(mask))

    def bounds(self, mask: int) -> tuple[Fraction, Fraction]:
        """Between which two rates the true one lies; equal when it is exact."""
        return self.rate(mask), self.rate(mask)

    def _parts(self, mask: int) -> Iterator[Progressions]:
        while mask:
            low = mask & -mask
            yield self.classes[low.bit_length() - 1]
            mask ^= low

    def _count(self, edges: Progressions) -> Fraction:
        return bit_set.rate(edges) if period(edges) <= 1 << 16 else prime_recursion.rate(edges)
