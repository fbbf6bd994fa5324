"""What sets of units cost: the cost model of a search, with a look-up for every set it has seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from optimizer.cost.omega import TreeLoads, least_omegas
from optimizer.cost.tree_cost import OPERATIONS, Currency, finals
from optimizer.strategies.contract.units import Profile, Units, bits
from optimizer.windows.window import FloatArray

EPSILON = 1e-12  # of two costs that differ by less, relatively, neither is smaller


@dataclass(frozen=True)
class CostModel:
    """Events per tick, and per measure the techniques that may answer it.

    With group-by all but reading events is done for every key active in a slice, so searches count per key: of the
    events, only a key's share.
    """

    rate: float
    techniques: tuple[tuple[str, ...], ...]
    currency: Currency = field(default=OPERATIONS, repr=False)

    def least_omegas(self, measure: int, trees: TreeLoads, rates: FloatArray) -> FloatArray:
        """Return what the techniques that may answer a measure cost per slice of every tree, each by its cheapest."""
        return least_omegas(self.techniques[measure], trees, rates, self.currency.final)

    def finals(self, rates: FloatArray, omegas: FloatArray) -> FloatArray:
        """Return what trees pay per tick for their answers."""
        return finals(self.currency.slices(rates), omegas)

    def root_feed(self, rates: FloatArray, measures: FloatArray) -> FloatArray:
        """Return what trees pay per tick to read the raw events."""
        return self.currency.root_feed(self.rate, rates, measures)


class OneTree:
    """One set of units as the formulas of Omega see it, for one measure."""

    def __init__(self, profile: Profile, units: list[int]) -> None:
        self.profile, self.units = profile, units
        self.queries = np.array([profile.queries[units].sum()])
        self.overlap = np.array([profile.overlap[units].sum()])
        self.longest = np.array([profile.longest[units].max()])

    def distinct_ranges(self) -> FloatArray:
        return np.array([self.profile.distinct_ranges(self.units)], dtype=np.float64)

    def flat_fat_sums(self, rates: FloatArray) -> FloatArray:
        sums = self.profile.fat.at(np.array(self.units), np.full(len(self.units), rates[0]))
        return np.array([sums.sum()])


class Pricing:
    """Prices sets of units. Every price is remembered: the papers' cost lookup."""

    def __init__(self, units: Units, model: CostModel) -> None:
        self.units, self.model = units, model
        self._parts: dict[int, tuple[float, int]] = {}
        self._trees: dict[int, float] = {0: 0.0}

    def rate(self, mask: int) -> float:
        """Return the edge rate of a set of units."""
        return self.rate_of_classes(self.units.edge_mask(mask))

    def rate_of_classes(self, mask: int) -> float:
        """Return the edge rate of a set of classes."""
        return self.units.problem.space.rate_float(mask)

    def measures(self, mask: int) -> int:
        """Return how many measures a tree of these units serves; it is fed once for each."""
        return self._price_parts(mask)[1]

    def finals(self, mask: int) -> float:
        """Final operations per tick of a tree of these units, each measure by its cheapest technique."""
        return self._price_parts(mask)[0]

    def tree(self, mask: int) -> float:
        """Return what a tree of these units costs."""
        if mask not in self._trees:
            finals, served = self._price_parts(mask)
            self._trees[mask] = float(self.feeds(np.array(self.rate(mask)), np.array(served))) + finals
        return self._trees[mask]

    def feeds(self, rates: FloatArray, served: FloatArray) -> FloatArray:
        """Return what trees with these edge rates pay to be fed for so many measures: by raw events in WeaveShare."""
        return self.model.root_feed(rates, served)

    def forest(self, masks: Iterable[int]) -> float:
        """Return what trees cost together."""
        return sum(map(self.tree, sorted(masks)))

    def _price_parts(self, mask: int) -> tuple[float, int]:
        if mask not in self._parts:
            self._parts[mask] = self._price(mask)
        return self._parts[mask]

    def _price(self, mask: int) -> tuple[float, int]:
        """Return the finals of a tree of these units, and how many measures it serves."""
        rates, members = np.array([self.rate(mask)]), list(bits(mask))
        total, measures = 0.0, list(bits(self.units.measures_of(mask)))
        for measure in measures:
            tree = OneTree(self.units.profiles[measure], members)
            total += float(self.model.least_omegas(measure, tree, rates)[0])
        return float(self.model.finals(rates, np.array([total]))[0]), len(measures)
