"""The greedy loop of WeaveShare: merge the two trees whose merge saves most, until none saves anything.

Gains are looked up in a table; a merge recomputes one row of it. Ties fall to the smallest units.
"""

from __future__ import annotations

import numpy as np

from optimizer.columns import FloatArray, IntArray
from optimizer.strategies.pricing import Pricing
from optimizer.strategies.slots import Slots
from optimizer.strategies.watch import Watch

EPSILON = 1e-12


class Loom:
    """The trees of a greedy search, one slot per unit at first."""

    def __init__(self, pricing: Pricing) -> None:
        units = pricing.units
        self.pricing, self.model = pricing, pricing.model
        count = len(units)
        self.masks = [1 << unit for unit in range(count)]
        self.edges = [1 << int(c) for c in units.class_of]
        self.active = np.ones(count, dtype=np.bool_)
        self.slots = [Slots(p, t) for p, t in zip(units.profiles, self.model.techniques, strict=True)]
        self.costs = np.array([pricing.tree(mask) for mask in self.masks])
        self.gains = np.full((count, count), -np.inf)

    def merge_costs(self, slot: int, others: IntArray) -> FloatArray:
        """What the merges of a slot with each of the others would cost."""
        space = self.pricing.units.problem.space
        rates = space.pair_rates(self.edges[slot], [self.edges[other] for other in others])
        total, served = np.zeros(len(others)), np.zeros(len(others))
        for measure in self.slots:
            present = (measure.queries[slot] + measure.queries[others]) > 0
            served += present
            total += np.where(present, measure.omegas(slot, others, rates), 0.0)
        costs: FloatArray = self.feeds(slot, others, served) + self.model.keys * rates * total
        return costs

    def feeds(self, slot: int, others: IntArray, served: FloatArray) -> FloatArray:
        """What the merges would pay to be fed; every tree reads the raw events."""
        return self.model.rate * served

    def fill(self, slot: int) -> None:
        """Recompute the gains of a slot with all others."""
        others = np.flatnonzero(self.active)
        others = others[others != slot]
        if not len(others):
            return
        gains = self.costs[slot] + self.costs[others] - self.merge_costs(slot, others)
        after = others > slot
        self.gains[slot, others[after]] = gains[after]
        self.gains[others[~after], slot] = gains[~after]

    def best(self) -> tuple[int, int, float]:
        """The two slots whose merge saves most, the smallest of equals, and what it saves."""
        rows = self.gains.max(axis=1)
        gain = float(rows.max(initial=-np.inf))
        floor = gain - EPSILON * max(abs(gain), float(self.costs.max(initial=0.0)))
        left = int(np.argmax(rows >= floor))
        return left, int(np.argmax(self.gains[left] >= floor)), gain

    def merge(self, slot: int, other: int) -> None:
        """Merge two slots and recompute the gains that change."""
        self.costs[slot] = self.costs[slot] + self.costs[other] - self.gains[slot, other]
        self.costs[other] = 0.0
        self.masks[slot] |= self.masks[other]
        self.edges[slot] |= self.edges[other]
        self.active[other] = False
        self.gains[other, :] = -np.inf
        self.gains[:, other] = -np.inf
        for measure in self.slots:
            measure.absorb(slot, other)
        self.fill(slot)

    def forest(self) -> list[int]:
        """The trees as they are, as masks of units."""
        return [self.masks[slot] for slot in np.flatnonzero(self.active)]


def greedy(loom: Loom, watch: Watch) -> list[int]:
    """Merge while it pays."""
    count = len(loom.masks)
    for slot in range(count):
        loom.fill(slot)
    for merged in range(count - 1):
        left, right, gain = loom.best()
        if watch.stopped or gain <= EPSILON * float(loom.costs.max()):
            break
        loom.merge(left, right)
        watch.report(merged / count)
    return loom.forest()
