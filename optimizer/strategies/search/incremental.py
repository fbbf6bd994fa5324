"""Incremental weaving: units join and leave a forest, which is woven anew when it has drifted.

Builds are points (number of units, cost); the performance slope through the last two predicts what a build would
cost now, and the forest has drifted when it costs more than that by a tolerance. Costs rise ever more slowly with more
units, so the slope is too kind after many changes: then a build is due as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from optimizer.strategies.contract.units import EPSILON

Price = Callable[[int], float]  # of a tree
ForestPrice = Callable[[Sequence[int]], float]
CANDIDATES = 8  # trees that are tried out, of those that look cheapest one by one
TOLERANCE = 0.05
PATIENCE = 0.05  # of the units of the last build: after so many changes the slope is not trusted any more


def insert(trees: list[int], unit: int, price: Price) -> list[int]:
    """Return the trees with one unit more: where it adds least, or in a tree of its own.

    >>> insert([0b001, 0b010], 0b100, {0b001: 5.0, 0b010: 5.0, 0b100: 4.0, 0b101: 8.0, 0b110: 6.0}.__getitem__)
    [1, 6]
    """
    added = [price(tree | unit) - price(tree) for tree in trees]
    if not added or min(added) >= price(unit) * (1 - EPSILON):
        return [*trees, unit]
    target = added.index(min(added))
    return [tree | unit if place == target else tree for place, tree in enumerate(trees)]


def insert_into(trees: list[int], unit: int, price: Price, cost: ForestPrice) -> list[int]:
    """Insert a unit as `insert` does, but price whole forests: with levels, a forest is no sum of its trees.

    >>> insert_into([1, 2], 4, lambda tree: 1.0, lambda forest: float(len(forest)))
    [5, 2]
    """
    added = {tree: price(tree | unit) - price(tree) for tree in trees}
    likely = sorted(trees, key=lambda tree: added[tree])[:CANDIDATES]
    choices = [[other | unit if other == tree else other for other in trees] for tree in likely]
    return min([*choices, [*trees, unit]], key=cost)


def settle(trees: list[int], touched: int, price: Price, cost: ForestPrice) -> list[int]:
    """Return the trees with one that has changed merged into others, the best first, until no merge pays (5.2).

    >>> settle([1, 2, 4], 1, lambda tree: 1.0, lambda forest: float(len(forest)))
    [7]
    """
    now = cost(trees)
    while len(trees) > 1:
        others = [tree for tree in trees if tree != touched]
        likely = sorted(others, key=lambda tree: price(tree | touched) - price(tree))[:CANDIDATES]
        choices = {tree: [*(other for other in others if other != tree), tree | touched] for tree in likely}
        best = min(likely, key=lambda tree: cost(choices[tree]))
        merged = cost(choices[best])
        if merged >= now * (1 - EPSILON):
            break
        trees, touched, now = choices[best], best | touched, merged
    return trees


class Drift:
    """The performance slope of a forest, and how far the forest has drifted from it."""

    def __init__(
        self,
        tolerance: float = TOLERANCE,
        patience: float = PATIENCE,
        builds: Sequence[tuple[int, float]] = ((0, 0.0),),
        changes: int = 0,
    ) -> None:
        self.tolerance, self.patience = tolerance, patience
        self.builds = list(builds)
        self.changes = changes

    def count_change(self) -> None:
        """Count a unit that joined or left."""
        self.changes += 1

    def remember_build(self, units: int, cost: float) -> None:
        """Remember what a build of so many units costs."""
        self.builds = [*self.builds[-1:], (units, cost)]
        self.changes = 0

    def predicted(self, units: int) -> float:
        """Return what a build would cost for so many units, along the slope of the last two builds.

        >>> drift = Drift()
        >>> drift.remember_build(10, 100.0)
        >>> drift.remember_build(20, 150.0)
        >>> drift.predicted(24)
        170.0
        """
        (before, cheap), (last, cost) = self.builds[0], self.builds[-1]
        slope = (cost - cheap) / (last - before) if last != before else cost / max(last, 1)
        return max(0.0, cost + slope * (units - last))

    def deviation(self, units: int, cost: float) -> float:
        """Return how much dearer than predicted the forest is, as a share of the prediction."""
        predicted = self.predicted(units)
        return cost / predicted - 1 if predicted > 0 else 0.0

    def is_due(self, units: int, cost: float) -> bool:
        """Return whether it is time to weave anew: too dear for the slope, or too many changes to trust it."""
        return self.deviation(units, cost) > self.tolerance or self.changes > self.patience * self.builds[-1][0] + 1
