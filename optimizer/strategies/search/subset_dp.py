"""The cheapest cascade of up to 16 units, exactly, by dynamic programming over subsets.

Edge rate, finals and measures of every subset are columns of a table, filled without a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from optimizer.cost.tree_cost import RAW
from optimizer.strategies.contract.units import CostModel, Profile, Units
from optimizer.windows.window import FloatArray, IntArray

MOST_UNITS = 16
HALF = 8
SMALLER = 1 - 1e-12
FEW = 8  # units that plain Python solves at once


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


class Solution(NamedTuple):
    """A, P, and the choices behind them: every subset's top tree, every split's first subtree."""

    best: FloatArray
    splits: FloatArray
    tops: IntArray
    firsts: IntArray


def _fill(table: SubsetTable, heft: IntArray, helpers: bool, out: Solution) -> None:
    """Smaller subsets first: the splits into two subtrees or more, the top tree, then the whole as one subtree."""
    count = len(table.rates)
    for subset in range(1, count):
        low = subset & -subset
        rest = subset & ~low
        others = rest
        while others:  # the first subtree has the smallest unit
            others = (others - 1) & rest
            first, tail = low | others, rest & ~others
            weight = table.served[first]
            for more in range(heft[tail] + 1):
                cost = out.best[first] + out.splits[tail, more]
                if cost < out.splits[subset, weight + more] * SMALLER:
                    out.splits[subset, weight + more] = cost
                    out.firsts[subset, weight + more] = first
        rate = table.rates[subset]
        units = subset
        while units >= 0:  # the top tree has the subset's edges, or answers no query
            free = units == 0 and (helpers or subset == count - 1)
            if free or (units and table.rates[units] >= rate * SMALLER):
                below = subset & ~units
                cost = np.inf
                for weight in range(heft[below] + 1):
                    cost = min(cost, out.splits[below, weight] + weight * rate)
                cost += table.finals[units]
                if cost < out.best[subset] * SMALLER:
                    out.best[subset], out.tops[subset] = cost, units
            units = (units - 1) & subset if units else -1
        weight = table.served[subset]
        if out.best[subset] < out.splits[subset, weight] * SMALLER:
            out.splits[subset, weight], out.firsts[subset, weight] = out.best[subset], subset


@cache
def _compiled() -> Callable[..., None]:
    """The same loops by numba, which takes seconds to load the first time and pays from some nine units on."""
    import numba

    compiled: Callable[..., None] = numba.njit(cache=True)(_fill)
    return compiled


def solve(table: SubsetTable, helpers: bool = True) -> Solution:
    """Fill A and P for all subsets, smaller ones first; without helpers, only a root may answer no query."""
    count = len(table.rates)
    heft = _heft(table.served)
    weights = int(heft[-1]) + 1
    splits = np.full((count, weights), np.inf)
    splits[0, 0] = 0.0
    choices = np.zeros(count, dtype=np.int64), np.zeros((count, weights), dtype=np.int64)
    out = Solution(np.full(count, np.inf), splits, *choices)
    fill = _fill if count <= 1 << FEW else _compiled()
    fill(table, heft, helpers, out)
    return out


def cheapest_cascade(table: SubsetTable, events: float, helpers: bool = True) -> list[tuple[int, int, int]]:
    """The trees of the cheapest cascade: own units, the subset whose edges it has, and the place of its feeder."""
    solution = solve(table, helpers)
    everything = len(table.rates) - 1
    fed = np.arange(solution.splits.shape[1], dtype=np.float64)
    nodes: list[tuple[int, int, int]] = []
    pending = [(part, RAW) for part in _parts(everything, solution, table.served, fed * events)]
    while pending:
        subset, feeder = pending.pop()
        top = int(solution.tops[subset])
        nodes.append((top, subset, feeder))
        below = _parts(subset & ~top, solution, table.served, fed * table.rates[subset])
        pending += [(part, len(nodes) - 1) for part in below]
    return nodes


def _parts(subset: int, solution: Solution, served: IntArray, feeds: FloatArray) -> list[int]:
    """The subtrees of the cheapest split of a subset, when feeding costs so much by weight."""
    weight = int(np.argmin(solution.splits[subset] + feeds))
    parts = []
    while subset:
        first = int(solution.firsts[subset, weight])
        parts.append(first)
        subset, weight = subset & ~first, weight - int(served[first])
    return parts


def _heft(served: IntArray) -> IntArray:
    """The largest weight that a split of each subset can have: every unit on its own."""
    heft: npt.NDArray[np.int64] = np.zeros(1, dtype=np.int64)
    for unit in range((len(served) - 1).bit_length()):
        heft = np.concatenate([heft, heft + served[1 << unit]])
    return heft
