"""Incremental weaving: units join and leave a forest, which is woven anew when it has drifted.

Builds are points (number of units, cost); the performance slope through the last two predicts what a build would
cost now, and the forest has drifted when it costs more than that by a tolerance. Costs rise ever more slowly with more
units, so the slope is too kind after many changes: then a build is due as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from optimizer.strategies.contract.pricing import EPSILON

Tree = TypeVar("Tree", int, frozenset[str])  # a mask of units, or a set of query ids: `|` merges two of them


def insert(trees: list[Tree], unit: Tree, price: Callable[[Tree], float]) -> list[Tree]:
    """Return the trees with one unit more: where it adds least, or in a tree of its own.

    >>> insert([0b001, 0b010], 0b100, {0b001: 5.0, 0b010: 5.0, 0b100: 4.0, 0b101: 8.0, 0b110: 6.0}.__getitem__)
    [1, 6]
    """
    added = [price(tree | unit) - price(tree) for tree in trees]
    if not added or min(added) >= price(unit) * (1 - EPSILON):
        return trees + [unit]  # noqa: RUF005 (mypy cannot unpack a list of a constrained type)
    target = added.index(min(added))
    return [tree | unit if place == target else tree for place, tree in enumerate(trees)]


class Drift:
    """The performance slope of a forest, and how far the forest has drifted from it."""

    def __init__(self, tolerance: float = 0.05, patience: float = 0.25) -> None:
        self.tolerance, self.patience = tolerance, patience
        self._builds = [(0, 0.0)]
        self._changes = 0

    def count_change(self) -> None:
        """Count a unit that joined or left."""
        self._changes += 1

    def remember_build(self, units: int, cost: float) -> None:
        """Remember what a build of so many units costs."""
        self._builds = [*self._builds[-1:], (units, cost)]
        self._changes = 0

    def predicted(self, units: int) -> float:
        """Return what a build would cost for so many units, along the slope of the last two builds.

        >>> drift = Drift()
        >>> drift.remember_build(10, 100.0)
        >>> drift.remember_build(20, 150.0)
        >>> drift.predicted(24)
        170.0
        """
        (before, cheap), (last, cost) = self._builds[0], self._builds[-1]
        slope = (cost - cheap) / (last - before) if last != before else cost / max(last, 1)
        return max(0.0, cost + slope * (units - last))

    def deviation(self, units: int, cost: float) -> float:
        """Return how much dearer than predicted the forest is, as a share of the prediction."""
        predicted = self.predicted(units)
        return cost / predicted - 1 if predicted > 0 else 0.0

    def is_due(self, units: int, cost: float) -> bool:
        """Return whether it is time to weave anew: too dear for the slope, or too many changes to trust it."""
        return self.deviation(units, cost) > self.tolerance or self._changes > self.patience * self._builds[-1][0] + 1


class IncrementalForest(Generic[Tree]):
    """Trees that units join and leave; `weave` makes a forest of the same units from nothing, or from this one."""

    def __init__(
        self, price: Callable[[Tree], float], weave: Callable[[list[Tree]], list[Tree]], tolerance: float = 0.05
    ) -> None:
        self.trees: list[Tree] = []
        self.drift = Drift(tolerance)
        self._price: Callable[[Tree], float] = price
        self._weave: Callable[[list[Tree]], list[Tree]] = weave

    @property
    def cost(self) -> float:
        """What the trees cost together."""
        return self.cost_of(self.trees)

    def cost_of(self, trees: list[Tree]) -> float:
        """Return what some trees cost together."""
        return sum(map(self._price, trees))

    def join(self, unit: Tree, units: int) -> None:
        """Insert a unit where it adds least; there are so many `units` now."""
        self.change(insert(self.trees, unit, self._price), units)

    def change(self, trees: list[Tree], units: int) -> None:
        """Replace the trees after a unit joined or left, and weave anew if that is due."""
        self.trees = trees
        self.drift.count_change()
        if self.drift.is_due(units, self.cost):
            self.rebuild(units)

    def rebuild(self, units: int) -> bool:
        """Weave anew; return whether that made the forest cheaper. It never becomes dearer."""
        woven = self._weave(self.trees)
        is_cheaper = self.cost_of(woven) < self.cost
        self.trees = woven if is_cheaper else self.trees
        self.drift.remember_build(units, self.cost)
        return is_cheaper
