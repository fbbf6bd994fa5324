"""Local search: move a unit to another tree or to one of its own, or merge two trees, while the cost falls.

Where the edges of trees have atoms, every move of a unit is priced for all trees at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from optimizer.strategies.contract.problem import Watch
from optimizer.strategies.contract.units import EPSILON, FatSums, Pricing, bits
from optimizer.strategies.search.greedy import FAT, INVERTIBLE
from optimizer.windows.atoms import Atoms
from optimizer.windows.window import FloatArray, IntArray

Price = Callable[[int], float]


def refine(forest: Sequence[int], price: Price, watch: Watch, passes: int = 20) -> list[int]:
    """Return the forest after all moves that pay; never dearer than before."""
    trees = sorted(forest, key=_smallest)
    for _ in range(passes):
        before = sorted(trees)
        trees = _merge_pass(_move_pass(trees, price, watch), price, watch)
        if watch.stopped or sorted(trees) == before:
            break
    return trees


def _move_pass(trees: list[int], price: Price, watch: Watch) -> list[int]:
    for unit in sorted(bits(sum(trees))):
        if watch.stopped:
            break
        trees = _move_unit(trees, 1 << unit, price)
    return trees


def _move_unit(trees: list[int], unit: int, price: Price) -> list[int]:
    """Return the trees with the unit where it is cheapest; it stays where it is unless moving pays."""
    home = next(tree for tree in trees if tree & unit)
    rest = home & ~unit
    others = [tree for tree in trees if tree != home]
    stay = price(home)
    leave = price(rest) if rest else 0.0
    choices = [*others, 0] if rest else others
    extras = [leave + price(tree | unit) - (price(tree) if tree else 0.0) - stay for tree in choices]
    if not extras or min(extras) >= -EPSILON * stay:
        return trees
    target = choices[extras.index(min(extras))]
    moved = [tree for tree in others if tree != target] + [target | unit] + ([rest] if rest else [])
    return sorted(moved, key=_smallest)


def merge_best(forest: Sequence[int], price: Price, watch: Watch) -> list[int]:
    """Merge the two trees whose merge saves most, until none saves anything."""
    trees = sorted(forest, key=_smallest)
    while len(trees) > 1 and not watch.stopped:
        pairs = [(a, b) for place, a in enumerate(trees) for b in trees[place + 1 :]]
        gains = [price(a) + price(b) - price(a | b) for a, b in pairs]
        best = max(gains)
        scale = EPSILON * max(map(price, trees))
        if best <= scale:
            break
        a, b = pairs[next(place for place, gain in enumerate(gains) if gain >= best - scale)]
        trees = sorted([tree for tree in trees if tree not in (a, b)] + [a | b], key=_smallest)
    return trees


def _merge_pass(trees: list[int], price: Price, watch: Watch) -> list[int]:
    """Merge any two trees whose merge pays, the smallest first."""
    merged: list[int] = []
    for tree in trees:
        target = None if watch.stopped else _host(tree, merged, price)
        if target is None:
            merged.append(tree)
        else:
            merged[merged.index(target)] |= tree
    return sorted(merged, key=_smallest)


def _host(tree: int, hosts: list[int], price: Price) -> int | None:
    gains = [price(host) + price(tree) - price(host | tree) for host in hosts]
    best = max(gains, default=0.0)
    return hosts[gains.index(best)] if best > EPSILON * price(tree) else None


def _smallest(tree: int) -> int:
    return tree & -tree


class MeasureLoads:
    """What the windows of every tree ask of one measure; the last place is a tree that is not begun yet."""

    def __init__(self, pricing: Pricing, measure: int, tree_of: IntArray, places: int) -> None:
        profile, techniques = pricing.units.profiles[measure], pricing.model.techniques[measure]
        self.profile, self.model, self.measure, self.tree_of = profile, pricing.model, measure, tree_of
        self.queries = np.bincount(tree_of, profile.queries, places)
        self.overlap = np.bincount(tree_of, profile.overlap, places)
        self.counts_ranges = bool(INVERTIBLE & set(techniques))
        self.sums_ranges = bool(FAT & set(techniques))
        if self.counts_ranges:
            values, self.ids = np.unique(profile.ranges, return_inverse=True)
            self.holders = np.zeros((places, len(values)), dtype=np.int32)
            units = np.repeat(np.arange(len(profile.queries)), np.diff(profile.bounds))
            np.add.at(self.holders, (tree_of[units], self.ids), 1)

    def shift(self, unit: int, tree: int, sign: int) -> None:
        """Add a unit to a tree's load, or take it off."""
        self.queries[tree] += sign * self.profile.queries[unit]
        self.overlap[tree] += sign * self.profile.overlap[unit]
        if self.counts_ranges:
            self.holders[tree] += sign * np.bincount(self._ids_of(unit), minlength=self.holders.shape[1])

    def omegas(self, unit: int, places: IntArray, sign: int, rates: FloatArray) -> FloatArray:
        """Return the least Omega of trees with a unit more, or one less, at these edge rates; 0 where nobody asks."""
        loads = ChangedLoads(self, unit, places, sign)
        omegas = self.model.least_omegas(self.measure, loads, np.maximum(rates, 1e-300))
        return np.where(loads.queries > 0, omegas, 0.0)

    def _ids_of(self, unit: int) -> IntArray:
        ids: IntArray = self.ids[self.profile.bounds[unit] : self.profile.bounds[unit + 1]]
        return ids


class ChangedLoads:
    """Trees with one unit more or less, as the formulas of Omega see them."""

    def __init__(self, loads: MeasureLoads, unit: int, places: IntArray, sign: int) -> None:
        self.loads, self.unit, self.places, self.sign = loads, unit, places, sign
        profile = loads.profile
        self.queries: FloatArray = loads.queries[places] + sign * profile.queries[unit]
        self.overlap: FloatArray = loads.overlap[places] + sign * profile.overlap[unit]
        longest = np.zeros(len(loads.queries))
        others = np.delete(np.arange(len(loads.tree_of)), unit)
        np.maximum.at(longest, loads.tree_of[others], profile.longest[others])
        self.longest: FloatArray = longest[places]
        if sign > 0:
            self.longest = np.maximum(self.longest, profile.longest[unit])

    def distinct_ranges(self) -> FloatArray:
        """Return the ranges of every tree: those that only the unit has come, or go."""
        holders = self.loads.holders[self.places]
        ids, counts = np.unique(self.loads._ids_of(self.unit), return_counts=True)
        alone = holders[:, ids] == (0 if self.sign > 0 else counts)
        changed: FloatArray = (holders > 0).sum(axis=1) + self.sign * alone.sum(axis=1)
        return changed.astype(np.float64)

    def flat_fat_sums(self, rates: FloatArray) -> FloatArray:
        """FlatFAT's sums over the ranges of every tree."""
        profile, sums = self.loads.profile, np.zeros(len(rates))
        for number, place in enumerate(self.places.tolist()):
            units = np.flatnonzero(self.loads.tree_of == place)
            units = np.append(units, self.unit) if self.sign > 0 else units[units != self.unit]
            ranges = [profile.ranges_of(unit) for unit in units.tolist()]
            if ranges:
                sums[number] = FatSums.of(np.concatenate(ranges)).at(np.zeros(1, dtype=np.int64), rates[[number]])[0]
        return sums


class MovableForest:
    """Trees by place, with room for one more: which units they hold, and how many of these have every atom."""

    def __init__(self, forest: Sequence[int], pricing: Pricing, atoms: Atoms) -> None:
        self.pricing, self.units = pricing, pricing.units
        places = len(forest) + 1
        self.tree_of = np.empty(len(self.units), dtype=np.int64)
        for place, tree in enumerate(forest):
            self.tree_of[list(bits(tree))] = place
        self.length = float(atoms.length)
        self.weights = np.ones(atoms.size) if atoms.weights is None else atoms.weights
        rows = atoms.rows([atoms.row(atoms.bits[number]) for number in self.units.class_of.tolist()])
        self.atoms_of = [np.flatnonzero(row) for row in atoms.spread(rows)]
        self.holders = np.zeros((places, atoms.size), dtype=np.int32)
        for unit, place in enumerate(self.tree_of.tolist()):
            self.holders[place, self.atoms_of[unit]] += 1
        self.sizes = np.bincount(self.tree_of, minlength=places)
        self.rates = (self.holders > 0) @ self.weights / self.length
        self.loads = [
            MeasureLoads(pricing, measure, self.tree_of, places) for measure in range(len(self.units.profiles))
        ]
        self.costs = np.array([pricing.tree(tree) for tree in forest] + [0.0])

    def move(self, unit: int) -> bool:
        """Move a unit to where it is cheapest, if that pays."""
        home = int(self.tree_of[unit])
        free = int(np.argmin(self.sizes))  # no units: a tree of its own
        places = (
            np.flatnonzero(self.sizes > 0) if self.sizes[home] == 1 else np.append(np.flatnonzero(self.sizes), free)
        )
        places = places[places != home]
        if not len(places):
            return False
        with_unit, with_rates = self._costs_with(unit, places)
        rest, rest_rate = self._cost_without(unit, home)
        extras = rest + with_unit - self.costs[places] - self.costs[home]
        best = int(np.argmin(extras))
        if extras[best] >= -EPSILON * self.costs[home]:
            return False
        self._shift(unit, home, -1, rest_rate, rest)
        self._shift(unit, int(places[best]), 1, float(with_rates[best]), float(with_unit[best]))
        return True

    def forest(self) -> list[int]:
        """Return the trees as masks of units."""
        return [
            self.units.mask_of(np.flatnonzero(self.tree_of == place)) for place in np.flatnonzero(self.sizes).tolist()
        ]

    def _costs_with(self, unit: int, places: IntArray) -> tuple[FloatArray, FloatArray]:
        own = self.atoms_of[unit]
        added = (self.holders[np.ix_(places, own)] == 0) @ self.weights[own] / self.length
        rates = self.rates[places] + added
        return self._price(unit, places, 1, rates), rates

    def _cost_without(self, unit: int, home: int) -> tuple[float, float]:
        if self.sizes[home] == 1:
            return 0.0, 0.0
        own = self.atoms_of[unit]
        private_rate = float((self.holders[home, own] == 1) @ self.weights[own]) / self.length
        rates = np.array([self.rates[home] - private_rate])
        return float(self._price(unit, np.array([home]), -1, rates)[0]), float(rates[0])

    def _price(self, unit: int, places: IntArray, sign: int, rates: FloatArray) -> FloatArray:
        total, served = np.zeros(len(places)), np.zeros(len(places))
        for loads in self.loads:
            total += loads.omegas(unit, places, sign, rates)
            served += (loads.queries[places] + sign * loads.profile.queries[unit]) > 0
        return self.pricing.feeds(rates, served) + self.pricing.model.finals(rates, total)

    def _shift(self, unit: int, place: int, sign: int, rate: float, cost: float) -> None:
        for loads in self.loads:
            loads.shift(unit, place, sign)
        self.holders[place, self.atoms_of[unit]] += sign
        self.sizes[place] += sign
        self.rates[place], self.costs[place] = rate, cost
        if sign > 0:
            self.tree_of[unit] = place


def move_units(forest: Sequence[int], pricing: Pricing, atoms: Atoms, watch: Watch, passes: int) -> list[int]:
    """Return the forest after all moves that pay, unit by unit; never dearer than before."""
    movable = MovableForest(forest, pricing, atoms)
    for _ in range(passes):
        moved = False
        for unit in range(len(pricing.units)):
            if watch.stopped:
                break
            moved |= movable.move(unit)
        if not moved or watch.stopped:
            break
    return movable.forest()
