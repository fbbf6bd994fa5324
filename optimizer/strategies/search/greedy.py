"""The greedy loop of WeaveShare: merge the two trees whose merge saves most, until none saves anything.

Gains are looked up in a table; a merge recomputes one row of it. Ties fall to the smallest units.
"""

from __future__ import annotations

import numpy as np

from optimizer.strategies.contract.pricing import EPSILON, Pricing
from optimizer.strategies.contract.watch import Watch
from optimizer.strategies.search.slots import Slots
from optimizer.windows.columns import FloatArray, IntArray


class Loom:
    """The trees of a greedy search, one slot per unit at first, and the gain of every merge of two."""

    def __init__(self, pricing: Pricing, watch: Watch) -> None:
        units = pricing.units
        count = len(units)
        self.pricing = pricing
        self.masks = [1 << unit for unit in range(count)]
        self.pairs = units.problem.space.pair_table([1 << int(c) for c in units.class_of])
        self.active = np.ones(count, dtype=np.bool_)
        self.slots = [Slots(p, pricing.model, number) for number, p in enumerate(units.profiles)]
        self.costs = np.array([pricing.tree(mask) for mask in self.masks])
        self.gains = np.full((count, count), -np.inf)  # of slots i < j
        self.best_of = np.full(count, -np.inf)  # the largest gain of every row
        for slot in range(count - 1):
            if watch.stopped:
                break
            self.gains[slot, slot + 1 :] = self.gains_of(slot, np.arange(slot + 1, count))
            self.best_of[slot] = self.gains[slot].max()

    def gains_of(self, slot: int, others: IntArray) -> FloatArray:
        """What the merges of a slot with each of the others would save."""
        pricing = self.pricing
        rates = self.pairs.rates(slot)[others]
        total, served = np.zeros(len(others)), np.zeros(len(others))
        for measure in self.slots:
            present = (measure.queries[slot] + measure.queries[others]) > 0
            served += present
            total += np.where(present, measure.omegas(slot, others, rates), 0.0)
        costs = pricing.feeds(rates, served) + pricing.model.finals(rates, total)
        gains: FloatArray = self.costs[slot] + self.costs[others] - costs
        return gains

    def best(self) -> tuple[int, int, float]:
        """The two slots whose merge saves most, the smallest of equals, and what it saves."""
        gain = float(self.best_of.max())
        floor = gain - EPSILON * max(abs(gain), float(self.costs.max()))
        left = int(np.argmax(self.best_of >= floor))
        return left, int(np.argmax(self.gains[left] >= floor)), gain

    def merge(self, slot: int, other: int) -> None:
        """Merge two slots and recompute the gains that change."""
        self.costs[slot] += self.costs[other] - self.gains[slot, other]
        self.costs[other] = 0.0
        self.masks[slot] |= self.masks[other]
        self.pairs.merge(slot, other)
        self.active[other] = False
        for measure in self.slots:
            measure.absorb(slot, other)
        self._refresh(slot, other)

    def _refresh(self, slot: int, other: int) -> None:
        stale = (self.gains[:, other] == self.best_of) | (self.gains[:, slot] == self.best_of)
        self.gains[other, :] = self.gains[:, other] = -np.inf
        others = np.flatnonzero(self.active)
        others = others[others != slot]
        if len(others):
            gains = self.gains_of(slot, others)
            self.gains[slot, others[others > slot]] = gains[others > slot]
            self.gains[others[others < slot], slot] = gains[others < slot]
        self.best_of = np.maximum(self.best_of, self.gains[:, slot])
        stale[[slot, other]] = True
        self.best_of[stale] = self.gains[stale].max(axis=1)

    def forest(self) -> list[int]:
        """The trees as they are, as masks of units."""
        return [self.masks[slot] for slot in np.flatnonzero(self.active)]


def greedy(pricing: Pricing, watch: Watch) -> list[int]:
    """Merge while it pays."""
    loom = Loom(pricing, watch)
    count = len(loom.masks)
    for merged in range(count - 1):
        left, right, gain = loom.best()
        if watch.stopped or gain <= EPSILON * float(loom.costs.max()):
            break
        loom.merge(left, right)
        watch.report(merged / count)
    return loom.forest()
