"""What a set of windows asks of a technique: all that any Omega needs to know."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from optimizer.windows.window import Window

Rate = Fraction | float  # exact in results, a float in searches


@dataclass(frozen=True, eq=False)
class Load:
    """Distinct windows, summed up; merging two loads is right when they have no window in common."""

    queries: int  # Q: distinct (range, slide, offset)
    overlap: float  # sum of range / slide
    ranges: NDArray[np.int64]  # distinct, ascending
    counts: NDArray[np.int64]  # distinct windows of every range

    @staticmethod
    def of(windows: Iterable[Window]) -> Load:
        """Return the load of windows; repeated ones count once.

        >>> load = Load.of([Window(16, 4), Window(16, 4), Window(8, 4)])
        >>> load.queries, load.overlap, load.ranges.tolist()
        (2, 6.0, [8, 16])
        """
        distinct = sorted(set(windows))
        columns = np.array([(w.range, w.slide) for w in distinct], dtype=np.int64).reshape(-1, 2)
        return Load.of_columns(columns[:, 0], columns[:, 1])

    @staticmethod
    def of_columns(ranges: NDArray[np.int64], slides: NDArray[np.int64]) -> Load:
        """Return the load of windows given as columns, distinct already.

        >>> Load.of_columns(np.array([16, 8]), np.array([4, 4])).overlap
        6.0
        """
        distinct, counts = np.unique(ranges, return_counts=True)
        return Load(len(ranges), float((ranges / slides).sum()), distinct, counts.astype(np.int64))

    def merge(self, other: Load) -> Load:
        """Return the load of two sets of windows together.

        >>> load = Load.of([Window(16, 4)]).merge(Load.of([Window(16, 8)]))
        >>> load.queries, load.overlap, load.ranges.tolist(), load.counts.tolist()
        (2, 6.0, [16], [2])
        """
        ranges, index = np.unique(np.concatenate([self.ranges, other.ranges]), return_inverse=True)
        counts = np.bincount(index, np.concatenate([self.counts, other.counts]), len(ranges)).astype(np.int64)
        return Load(self.queries + other.queries, self.overlap + other.overlap, ranges, counts)

    @property
    def distinct_ranges(self) -> int:
        """How many ranges there are; invertible techniques keep one accumulator each.

        >>> Load.of([Window(16, 4), Window(16, 8), Window(8, 4)]).distinct_ranges
        2
        """
        return len(self.ranges)

    @property
    def max_range(self) -> int:
        """The longest range.

        >>> Load.of([Window(16, 4), Window(8, 4)]).max_range
        16
        """
        return int(self.ranges[-1]) if len(self.ranges) else 0
