"""One measure's load of every tree of a greedy search, and what any merge of two would ask for."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from optimizer.columns import FloatArray, IntArray
from optimizer.strategies.bulk_omega import BULK_OMEGA
from optimizer.strategies.common_ranges import CommonRanges
from optimizer.strategies.fat_sums import FatSums
from optimizer.strategies.units import Profile

INVERTIBLE = ("panes_inv", "slick_deque_inv")
FAT = ("flat_fat", "b_int")


class Slots:
    """The trees of a search by slot; a merge lands in the smaller slot."""

    def __init__(self, profile: Profile, techniques: tuple[str, ...]) -> None:
        self.techniques = techniques
        self.queries, self.overlap = profile.queries.copy(), profile.overlap.copy()
        self.longest = profile.longest.copy()
        slots = range(len(self.queries))
        self.common = CommonRanges(profile) if set(techniques) & set(INVERTIBLE) else None
        self.fat = [profile.fat_sums(slot) for slot in slots] if set(techniques) & set(FAT) else []

    def omegas(self, slot: int, others: IntArray, rates: FloatArray) -> FloatArray:
        """The least Omega of the merges of a slot with each of the others, at the merges' edge rates."""
        merges = Merges(self, slot, others)
        return np.min([BULK_OMEGA[name](merges, rates) for name in self.techniques], axis=0)

    def absorb(self, slot: int, other: int) -> None:
        """Merge a slot into a smaller one."""
        self.queries[slot] += self.queries[other]
        self.overlap[slot] += self.overlap[other]
        self.longest[slot] = max(self.longest[slot], self.longest[other])
        if self.common is not None:
            self.common.absorb(slot, other)
        if self.fat:
            self.fat[slot] = FatSums(np.concatenate([self.fat[slot].ranges, self.fat[other].ranges]))


class Merges:
    """The merges of one slot with others, as the formulas of Omega see them."""

    def __init__(self, slots: Slots, slot: int, others: IntArray) -> None:
        self.slots, self.slot, self.others = slots, slot, others

    @cached_property
    def queries(self) -> FloatArray:
        return self.slots.queries[self.slot] + self.slots.queries[self.others]

    @cached_property
    def overlap(self) -> FloatArray:
        return self.slots.overlap[self.slot] + self.slots.overlap[self.others]

    @cached_property
    def longest(self) -> FloatArray:
        return np.maximum(self.slots.longest[self.slot], self.slots.longest[self.others])

    def distinct_ranges(self) -> FloatArray:
        assert self.slots.common is not None
        return self.slots.common.unions(self.slot, self.others)

    def flat_fat(self, rates: FloatArray) -> FloatArray:
        fat = self.slots.fat
        others = [fat[other].at(rates[k : k + 1])[0] for k, other in enumerate(self.others)]
        return fat[self.slot].at(rates) + np.array(others)
