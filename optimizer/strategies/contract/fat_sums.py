"""The sum of FlatFAT's f(r * E) over sorted ranges, for any edge rate, by binary search and prefix sums.

f is a sum of steps and of lines between powers of two, so a million windows cost some eighty look-ups.
"""

from __future__ import annotations

import numpy as np

from optimizer.windows.columns import FloatArray, IntArray

SNAP = 1 - 1e-9  # P counts as whole when it is this near, as snap_to_whole() in cost/omega.py does


class FatSums:
    """The ranges of some windows in parts, ready to be summed part by part at any edge rates."""

    def __init__(self, ranges: IntArray, bounds: IntArray) -> None:
        """Part p holds ranges[bounds[p]:bounds[p + 1]], ascending."""
        self.ranges, self.bounds = ranges.astype(np.float64), bounds
        self.longest = float(self.ranges.max(initial=1.0))
        self.span = self.longest + 1  # parts laid end to end are ascending as a whole
        self.line = self.ranges + np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)) * self.span
        self.prefix = np.concatenate([[0.0], np.cumsum(self.ranges)])

    @classmethod
    def of(cls, ranges: IntArray | FloatArray) -> FatSums:
        """All the ranges as one part."""
        return cls(np.sort(ranges), np.array([0, len(ranges)]))

    def at(self, parts: IntArray, rates: FloatArray) -> FloatArray:
        """The sum of each part at its own edge rate."""
        if not len(parts):
            return np.zeros(0)
        levels = np.exp2(np.arange(max(2, int(np.log2(max(1.0, self.longest * rates.max()))) + 2)))
        ends = self.bounds[parts + 1]
        steps = ends[:, None] - self._below(levels[1:] + 1, parts, rates)
        cuts = np.concatenate([self._below(levels, parts, rates), ends[:, None]], axis=1)
        lines = np.diff(self.prefix[cuts], axis=1) * rates[:, None] - np.diff(cuts, axis=1)
        total: FloatArray = steps.sum(axis=1) + (lines / levels).sum(axis=1)
        return total

    def _below(self, partials: FloatArray, parts: IntArray, rates: FloatArray) -> IntArray:
        """Where in the line the ranges of a part begin that hold at least this many partials."""
        thresholds = np.minimum(partials[None, :] / rates[:, None] * SNAP, self.span)
        places: IntArray = np.searchsorted(self.line, thresholds + parts[:, None] * self.span)
        return places
