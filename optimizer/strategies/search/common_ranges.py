"""How many ranges any two trees of a greedy search have in common, kept up to date as trees merge."""

from __future__ import annotations

import numpy as np

from optimizer.strategies.contract.units import Profile
from optimizer.windows.columns import FloatArray, IntArray, distinct_sorted


class CommonRanges:
    """Ranges are numbered; every slot knows its own, every range the units it came from."""

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
        """How many ranges the merges of a slot with each of the others would have."""
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
        """The ranges that units have in common, before any merge."""
        common = np.zeros(count * count)
        for step in range(1, count):
            same = self._ranges[step:] == self._ranges[:-step]
            if not same.any():
                break
            common += np.bincount(self._units[:-step][same] * count + self._units[step:][same], minlength=count * count)
        square = common.reshape(count, count)
        return square + square.T
