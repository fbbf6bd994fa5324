"""One measure's load of every tree of a greedy search, and what any merge of two would ask for."""

from __future__ import annotations

import numpy as np

from optimizer.strategies.contract.fat_sums import FatSums
from optimizer.strategies.contract.pricing import CostModel
from optimizer.strategies.contract.units import Profile
from optimizer.strategies.search.common_ranges import CommonRanges
from optimizer.windows.columns import FloatArray, IntArray

INVERTIBLE = {"panes_inv", "slick_deque_inv"}
FAT = {"flat_fat", "b_int"}


class Slots:
    """The trees of a search by slot, a unit each at first; a merge lands in the smaller slot."""

    def __init__(self, profile: Profile, model: CostModel, measure: int) -> None:
        self.profile, self.model, self.measure = profile, model, measure
        self.queries, self.overlap = profile.queries.copy(), profile.overlap.copy()
        self.longest = profile.longest.copy()
        self.slot_of = np.arange(len(self.queries))
        self.common = CommonRanges(profile) if INVERTIBLE & set(model.techniques[measure]) else None

    def omegas(self, slot: int, others: IntArray, rates: FloatArray) -> FloatArray:
        """The least Omega of the merges of a slot with each of the others, at the merges' edge rates."""
        return self.model.least_omegas(self.measure, Merges(self, slot, others), rates)

    def absorb(self, slot: int, other: int) -> None:
        """Merge a slot into a smaller one."""
        self.queries[slot] += self.queries[other]
        self.overlap[slot] += self.overlap[other]
        self.longest[slot] = max(self.longest[slot], self.longest[other])
        self.slot_of[self.slot_of == other] = slot
        if self.common is not None:
            self.common.absorb(slot, other)


class Merges:
    """The merges of one slot with others, as the formulas of Omega see them."""

    def __init__(self, slots: Slots, slot: int, others: IntArray) -> None:
        self.slots, self.slot, self.others = slots, slot, others
        self.queries: FloatArray = slots.queries[slot] + slots.queries[others]
        self.overlap: FloatArray = slots.overlap[slot] + slots.overlap[others]
        self.longest: FloatArray = np.maximum(slots.longest[slot], slots.longest[others])

    def distinct_ranges(self) -> FloatArray:
        assert self.slots.common is not None
        return self.slots.common.unions(self.slot, self.others)

    def flat_fat_sums(self, rates: FloatArray) -> FloatArray:
        """The slot's own sum at every rate, and every other's at its own."""
        profile, slot_of = self.slots.profile, self.slots.slot_of
        own = FatSums.of(
            np.concatenate([profile.ranges_of(unit) for unit in np.flatnonzero(slot_of == self.slot).tolist()])
        )
        place = np.full(len(slot_of), -1)
        place[self.others] = np.arange(len(self.others))
        units = np.flatnonzero(place[slot_of] >= 0)
        at = place[slot_of[units]]
        others = np.bincount(at, profile.fat.at(units, rates[at]), len(rates))
        total: FloatArray = own.at(np.zeros(len(rates), dtype=np.int64), rates) + others
        return total
