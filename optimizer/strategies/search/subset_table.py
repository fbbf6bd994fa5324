"""Edge rate, finals and measures of every subset of up to 16 units: a column each, filled without a loop."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from optimizer.strategies.contract.pricing import CostModel
from optimizer.strategies.contract.units import Profile, Units
from optimizer.windows.columns import FloatArray, IntArray

MOST_UNITS = 16
HALF = 8


class SubsetTable(NamedTuple):
    """Position S of every column belongs to the units of the mask S."""

    rates: FloatArray
    finals: FloatArray
    served: IntArray


def subset_table(units: Units, model: CostModel) -> SubsetTable:
    """Price all subsets of the units."""
    rates = _rates(units)
    total, served = np.zeros(len(rates)), np.zeros(len(rates), dtype=np.int64)
    for measure, profile in enumerate(units.profiles):
        subsets = Subsets(profile)
        omegas = model.least_omegas(measure, subsets, rates)
        present = subsets.queries > 0
        total += np.where(present, omegas, 0.0)
        served += present
    return SubsetTable(rates, model.finals(rates, total), served)


class Subsets:
    """All subsets of the units, as the formulas of Omega see them, for one measure."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.queries = self.overlap = self.longest = np.zeros(1)
        for unit in range(len(profile.queries)):
            self.queries = np.concatenate([self.queries, self.queries + profile.queries[unit]])
            self.overlap = np.concatenate([self.overlap, self.overlap + profile.overlap[unit]])
            self.longest = np.concatenate([self.longest, np.maximum(self.longest, profile.longest[unit])])

    def distinct_ranges(self) -> FloatArray:
        """All ranges but those that only units outside the subset have."""
        outside = np.zeros(len(self.queries))
        owners, counts = self.profile.owners
        outside[owners] = counts
        for unit in range(len(self.profile.queries)):
            halves = outside.reshape(-1, 2, 1 << unit)
            halves[:, 1] += halves[:, 0]
        inside: FloatArray = outside[-1] - outside[::-1]
        return inside

    def flat_fat_sums(self, rates: FloatArray) -> FloatArray:
        """The sums of the units at the subset's rate; rates repeat, so few are computed."""
        distinct, place = np.unique(np.where(rates > 0, rates, 1.0), return_inverse=True)
        total = np.zeros(len(rates))
        for unit in range(len(self.profile.queries)):
            inside = (np.arange(len(rates)) >> unit & 1).astype(np.bool_)
            sums = self.profile.fat.at(
                np.full(len(distinct), unit), np.maximum(distinct, distinct[1:].min(initial=1.0))
            )
            total[inside] += sums[place[inside]]
        return total


def _rates(units: Units) -> FloatArray:
    """Edge rates, one half of the units merged with every subset of the other."""
    space, count = units.problem.space, len(units)
    low = [units.edge_mask(mask) for mask in range(1 << min(HALF, count))]
    rows = [space.pair_rates(units.edge_mask(mask << HALF), low) for mask in range(1 << max(0, count - HALF))]
    return np.concatenate(rows)
