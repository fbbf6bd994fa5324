"""What a search moves about, a unit: a class of equal edges, or a single window; and what each unit asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from optimizer.columns import FloatArray, IntArray
from optimizer.problem import Problem
from optimizer.strategies.fat_sums import FatSums


def bits(mask: int) -> Iterator[int]:
    """The positions of the ones of a mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


@dataclass(frozen=True, eq=False)
class Profile:
    """What every unit asks of one measure: Q, the summed overlap, the longest range, and the ranges themselves."""

    queries: FloatArray
    overlap: FloatArray
    longest: FloatArray
    ranges: IntArray  # of every asking window, sorted by (unit, range)
    bounds: IntArray  # unit u has ranges[bounds[u]:bounds[u + 1]]
    _fat: dict[int, FatSums] = field(default_factory=dict)

    def ranges_of(self, unit: int) -> IntArray:
        """The ranges of a unit's windows, ascending."""
        return self.ranges[self.bounds[unit] : self.bounds[unit + 1]]

    def fat_sums(self, unit: int) -> FatSums:
        """FlatFAT's sums over the ranges of a unit."""
        if unit not in self._fat:
            self._fat[unit] = FatSums(self.ranges_of(unit))
        return self._fat[unit]

    def distinct_ranges(self, units: list[int]) -> int:
        """How many ranges some units have together."""
        return len(np.unique(np.concatenate([self.ranges_of(unit) for unit in units])))


@dataclass(frozen=True, eq=False)
class Units:
    """The units of a problem; sets of units are masks, as sets of classes are."""

    problem: Problem
    unit_of: IntArray  # per window, ascending
    class_of: IntArray  # per unit

    @classmethod
    def classes(cls, problem: Problem) -> Units:
        """One unit per class of equal edges."""
        return cls(problem, problem.class_of, np.arange(len(problem.classes)))

    @classmethod
    def windows(cls, problem: Problem) -> Units:
        """One unit per distinct window."""
        return cls(problem, np.arange(len(problem.windows)), problem.class_of)

    def __len__(self) -> int:
        return len(self.class_of)

    @property
    def everything(self) -> int:
        """The mask of all units."""
        return (1 << len(self)) - 1

    @cached_property
    def profiles(self) -> tuple[Profile, ...]:
        """One profile per measure."""
        return tuple(self._profile(k) for k in range(len(self.problem.measures)))

    def edge_mask(self, mask: int) -> int:
        """The classes whose edges a set of units has."""
        if len(self) == len(self.problem.classes):
            return mask
        found = 0
        for unit in bits(mask):
            found |= 1 << int(self.class_of[unit])
        return found

    def labels(self, forest: list[int]) -> IntArray:
        """The tree of every window, when tree t holds the units of forest[t]."""
        tree_of = np.empty(len(self), dtype=np.int64)
        for tree, mask in enumerate(forest):
            tree_of[list(bits(mask))] = tree
        return tree_of[self.unit_of]

    def _profile(self, measure: int) -> Profile:
        windows, unit_of = self.problem.windows, self.unit_of
        ranges, slides = windows.range, windows.slide
        asked = self.problem.asked[measure]
        if asked is not None:
            ranges, slides, unit_of = ranges[asked], slides[asked], unit_of[asked]
        bounds = np.searchsorted(unit_of, np.arange(len(self) + 1))
        overlap = np.bincount(unit_of, ranges / slides, len(self))
        queries = np.diff(bounds).astype(np.float64)
        longest = np.where(queries > 0, np.append(ranges, 0)[bounds[1:] - 1], 0).astype(np.float64)
        return Profile(queries, overlap, longest, ranges, bounds)
