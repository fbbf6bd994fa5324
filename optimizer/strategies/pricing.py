"""What sets of units cost: the cost model of a search, with a look-up for every set it has seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optimizer.columns import FloatArray
from optimizer.strategies.bulk_omega import BULK_OMEGA
from optimizer.strategies.units import Profile, Units, bits


@dataclass(frozen=True)
class CostModel:
    """Events per tick, keys active in a slice, and per measure the techniques that may answer it."""

    rate: float
    keys: float
    techniques: tuple[tuple[str, ...], ...]


class OneTree:
    """One set of units as the formulas of Omega see it, for one measure."""

    def __init__(self, profile: Profile, units: list[int]) -> None:
        self.profile, self.units = profile, units

    @cached_property
    def queries(self) -> FloatArray:
        return self.profile.queries[self.units].sum(keepdims=True)

    @cached_property
    def overlap(self) -> FloatArray:
        return self.profile.overlap[self.units].sum(keepdims=True)

    @cached_property
    def longest(self) -> FloatArray:
        return self.profile.longest[self.units].max(keepdims=True)

    def distinct_ranges(self) -> FloatArray:
        return np.array([self.profile.distinct_ranges(self.units)], dtype=np.float64)

    def flat_fat(self, rates: FloatArray) -> FloatArray:
        return np.sum([self.profile.fat_sums(unit).at(rates) for unit in self.units], axis=0)


class Pricing:
    """Prices sets of units. Every price is remembered: the papers' cost lookup."""

    def __init__(self, units: Units, model: CostModel) -> None:
        self.units, self.model = units, model
        self._finals: dict[int, float] = {0: 0.0}
        self._measures: dict[int, int] = {0: 0}

    def rate(self, mask: int) -> float:
        """The edge rate of a set of units."""
        return self.units.problem.space.rate_float(self.units.edge_mask(mask))

    def measures(self, mask: int) -> int:
        """How many measures a tree of these units serves; it is fed once for each."""
        if mask not in self._measures:
            self._price(mask)
        return self._measures[mask]

    def finals(self, mask: int) -> float:
        """Final operations per tick of a tree of these units, each measure by its cheapest technique."""
        if mask not in self._finals:
            self._price(mask)
        return self._finals[mask]

    def tree(self, mask: int) -> float:
        """What a tree of these units costs when it reads the raw events (WeaveShare)."""
        return self.model.rate * self.measures(mask) + self.finals(mask) if mask else 0.0

    def forest(self, masks: list[int]) -> float:
        """What trees cost that all read the raw events."""
        return sum(map(self.tree, sorted(masks)))

    def techniques(self, mask: int) -> dict[int, str]:
        """The cheapest technique of every measure that the units ask for; the model's order breaks ties."""
        rates, members = np.array([self.rate(mask)]), list(bits(mask))
        chosen = {}
        for measure, profile in enumerate(self.units.profiles):
            tree = OneTree(profile, members)
            if tree.queries[0]:
                omegas = {name: BULK_OMEGA[name](tree, rates)[0] for name in self.model.techniques[measure]}
                chosen[measure] = cheapest(omegas)
        return chosen

    def _price(self, mask: int) -> None:
        rates, members = np.array([self.rate(mask)]), list(bits(mask))
        total, served = 0.0, 0
        for measure, profile in enumerate(self.units.profiles):
            tree = OneTree(profile, members)
            if tree.queries[0]:
                served += 1
                total += min(BULK_OMEGA[name](tree, rates)[0] for name in self.model.techniques[measure])
        self._finals[mask] = float(rates[0]) * self.model.keys * float(total)
        self._measures[mask] = served


def cheapest(omegas: dict[str, float]) -> str:
    """The first technique that no other undercuts by more than rounding."""
    least = min(omegas.values())
    return next(name for name, omega in omegas.items() if omega <= least * (1 + 1e-12))
