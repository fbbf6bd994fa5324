"""The greedy loop of WeaveShare: merge the two trees whose merge saves most, until none saves anything.

A slot is one measure's load of a tree, kept for all trees in columns, with what any merge of two would ask for.
"""

from __future__ import annotations

import numpy as np

from optimizer.strategies.contract.problem import Watch
from optimizer.strategies.contract.units import EPSILON, CostModel, FatSums, Pricing, Profile
from optimizer.windows.window import FloatArray, IntArray, distinct_sorted

INVERTIBLE = {"panes_inv", "slick_deque_inv"}
FAT = {"flat_fat", "b_int"}


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
        """Return what the merges of a slot with each of the others would save."""
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
        """Return the two slots whose merge saves most, the smallest of equals, and what it saves."""
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
        """Return the trees as they are, as masks of units."""
        return [self.masks[slot] for slot in np.flatnonzero(self.active)]


def greedy(pricing: Pricing, watch: Watch) -> list[int]:
    """Merge the two trees whose merge saves most, while one saves anything."""
    loom = Loom(pricing, watch)
    count = len(loom.masks)
    for merged in range(count - 1):
        left, right, gain = loom.best()
        if watch.stopped or gain <= EPSILON * float(loom.costs.max()):
            break
        loom.merge(left, right)
        watch.report(merged / count)
    return loom.forest()


class Slots:
    """The trees of a search by slot, a unit each at first; a merge lands in the smaller slot."""

    def __init__(self, profile: Profile, model: CostModel, measure: int) -> None:
        self.profile, self.model, self.measure = profile, model, measure
        self.queries, self.overlap = profile.queries.copy(), profile.overlap.copy()
        self.longest = profile.longest.copy()
        self.slot_of = np.arange(len(self.queries))
        self.common = CommonRanges(profile) if INVERTIBLE & set(model.techniques[measure]) else None

    def omegas(self, slot: int, others: IntArray, rates: FloatArray) -> FloatArray:
        """Return the least Omega of the merges of a slot with each of the others, at the merges' edge rates."""
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
        """Return the slot's own sum at every rate, and every other's at its own."""
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


class CommonRanges:
    """The ranges any two slots have in common: a slot knows its own ranges, a range the units it came from."""

    def __init__(self, profile: Profile) -> None:
        count = len(profile.queries)
        units = np.repeat(np.arange(count), np.diff(profile.bounds))
        _, ids = np.unique(profile.ranges, return_inverse=True)
        entries = distinct_sorted(ids * count + units)  # a unit may have a range more than once
        self._ranges, self._units = np.divmod(entries, count)
        self._starts = np.searchsorted(self._ranges, np.arange(self._ranges[-1] + 2 if len(entries) else 1))
        self._slot_of = np.arange(count)
        by_unit = np.argsort(self._units, kind="stable")
        cuts = np.searchsorted(self._units[by_unit], np.arange(1, count))
        self._ids = np.split(self._ranges[by_unit], cuts)
        self.sizes = np.array([len(ids) for ids in self._ids], dtype=np.float64)
        self.common = self._pairs(count)

    def unions(self, slot: int, others: IntArray) -> FloatArray:
        """Return how many ranges the merges of a slot with each of the others would have."""
        unions: FloatArray = self.sizes[slot] + self.sizes[others] - self.common[slot, others]
        return unions

    def absorb(self, slot: int, other: int) -> None:
        """Merge a slot into another: only the ranges that are new there change what is common."""
        fresh = np.setdiff1d(self._ids[other], self._ids[slot], assume_unique=True)
        shared = self._slots_with(fresh)
        self.common[slot] += shared
        self.common[:, slot] += shared
        self._ids[slot] = np.union1d(self._ids[slot], fresh)
        self.sizes[slot] = len(self._ids[slot])
        self._slot_of[self._slot_of == other] = slot

    def _slots_with(self, ids: IntArray) -> FloatArray:
        """For every slot, how many of these ranges it has."""
        starts, lengths = self._starts[ids], self._starts[ids + 1] - self._starts[ids]
        shift = np.repeat(starts - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths) if len(ids) else starts
        entries = np.arange(len(shift)) + shift
        count = len(self.sizes)
        owners = distinct_sorted(self._ranges[entries] * count + self._slot_of[self._units[entries]])
        return np.bincount(owners % count, minlength=count).astype(np.float64)

    def _pairs(self, count: int) -> FloatArray:
        """Return the ranges that units have in common, before any merge."""
        common = np.zeros(count * count)
        for step in range(1, count):
            same = self._ranges[step:] == self._ranges[:-step]
            if not same.any():
                break
            common += np.bincount(self._units[:-step][same] * count + self._units[step:][same], minlength=count * count)
        square = common.reshape(count, count)
        return square + square.T
