"""The sum of FlatFAT's f(r * E) over sorted ranges, for any edge rate, by binary search and prefix sums.

f is a sum of steps and of lines between powers of two, so a million windows cost some eighty look-ups.
"""

from __future__ import annotations

import numpy as np

from optimizer.columns import FloatArray, IntArray

SNAP = 1 - 1e-9  # P counts as whole when it is this near, as in cost/omega/flat_fat.py


class FatSums:
    """The ranges of some windows, ready to be summed at any edge rate."""

    def __init__(self, ranges: IntArray) -> None:
        self.ranges = np.sort(ranges).astype(np.float64)
        self.prefix = np.concatenate([[0.0], np.cumsum(self.ranges)])

    def at(self, rates: FloatArray) -> FloatArray:
        """The sums at each of the edge rates."""
        if not len(self.ranges):
            return np.zeros(len(rates))
        levels = np.exp2(np.arange(max(2, int(np.log2(max(1.0, self.ranges[-1] * rates.max()))) + 2)))
        steps = len(self.ranges) - self._below(levels[1:] + 1, rates)
        cuts = np.concatenate([self._below(levels, rates), np.full((len(rates), 1), len(self.ranges))], axis=1)
        lines = np.diff(self.prefix[cuts], axis=1) * rates[:, None] - np.diff(cuts, axis=1)
        total: FloatArray = steps.sum(axis=1) + (lines / levels).sum(axis=1)
        return total

    def _below(self, partials: FloatArray, rates: FloatArray) -> IntArray:
        """How many ranges hold fewer than this many partials."""
        return np.searchsorted(self.ranges, partials[None, :] / rates[:, None] * SNAP)
