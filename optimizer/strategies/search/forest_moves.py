"""Searches over whole forests, for costs that are no sum over trees: descent, and simulated annealing.

A move puts one unit elsewhere or merges two trees. Annealing makes a fixed number of seeded steps, so that the result
is always the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from optimizer.strategies.contract.options import Watch
from optimizer.strategies.contract.pricing import EPSILON
from optimizer.strategies.contract.units import bits

ForestPrice = Callable[[Sequence[int]], float]
TRIES = 300
MANY = 40  # trees; a forest of more takes longer to price
STEPS = 300
WARM, COLD = 2e-2, 1e-5  # temperatures, relative to the cost
SEED = 2026


def fewer(tries: int, forest: Sequence[int]) -> int:
    """How often a search may price forests like this one."""
    return max(1, round(tries * min(1.0, MANY / len(forest))))


def descend(forest: Sequence[int], price: ForestPrice, watch: Watch, tries: int = TRIES) -> list[int]:
    """The forest after all moves that pay, or as many as there were tries for; never dearer than before."""
    search = Descent(sorted(forest), price, watch, fewer(tries, forest))
    before = float("inf")
    while search.cost < before and not search.ended:
        before = search.cost
        for unit in bits(sum(forest)):
            search.take_best(moves(search.trees, 1 << unit))
        search.take_best(merges(search.trees))
    return search.trees


class Descent:
    """Where a descent stands, and how many forests it may still price."""

    def __init__(self, trees: list[int], price: ForestPrice, watch: Watch, tries: int) -> None:
        self.trees, self.cost, self.price = trees, price(trees), price
        self._watch, self._tries = watch, tries

    @property
    def ended(self) -> bool:
        """Whether it was stopped, or has used up its tries."""
        return self._watch.stopped or self._tries <= 0

    def take_best(self, choices: Iterator[list[int]]) -> None:
        """Go to the cheapest of the choices, if it is cheaper."""
        for choice in choices:
            if self.ended:
                break
            self._tries -= 1
            cost = self.price(choice)
            if cost < self.cost * (1 - EPSILON):
                self.trees, self.cost = choice, cost


def moves(trees: list[int], unit: int) -> Iterator[list[int]]:
    """The forests in which a unit is in another tree, or in one of its own."""
    home = next(tree for tree in trees if tree & unit)
    rest = [home & ~unit] if home & ~unit else []
    others = [tree for tree in trees if tree != home]
    for target in others:
        yield sorted([tree for tree in others if tree != target] + [target | unit, *rest])
    if rest:
        yield sorted([*others, unit, *rest])


def merges(trees: list[int]) -> Iterator[list[int]]:
    """The forests in which two trees are one."""
    for place, tree in enumerate(trees):
        for other in trees[place + 1 :]:
            yield sorted([third for third in trees if third not in (tree, other)] + [tree | other])


def anneal(forest: Sequence[int], price: ForestPrice, watch: Watch, steps: int = STEPS) -> list[int]:
    """The cheapest forest met."""
    rng = np.random.default_rng(SEED)
    steps = fewer(steps, forest)
    units = list(bits(sum(forest)))
    now, cost = list(forest), price(forest)
    best, least = now, cost
    for step in range(steps):
        if watch.stopped or len(units) < 2:
            break
        neighbour = _neighbour(now, units, rng)
        change = price(neighbour) / cost - 1
        temperature = WARM * (COLD / WARM) ** (step / steps)
        if change <= 0 or rng.random() < math.exp(-change / temperature):
            now, cost = neighbour, price(neighbour)
            if cost < least:
                best, least = now, cost
        watch.report(step / steps)
    return best


def _neighbour(trees: list[int], units: list[int], rng: np.random.Generator) -> list[int]:
    """A random unit in a random other tree or in one of its own; now and then two trees merged."""
    if len(trees) > 1 and rng.random() < 0.1:
        first, second = rng.choice(len(trees), 2, replace=False).tolist()
        rest = [tree for place, tree in enumerate(trees) if place not in (first, second)]
        return [*rest, trees[first] | trees[second]]
    unit = 1 << units[int(rng.integers(len(units)))]
    bare = [tree & ~unit for tree in trees]
    target = int(rng.integers(len(trees) + 1))
    moved = [tree | unit if place == target else tree for place, tree in enumerate([*bare, 0])]
    return [tree for tree in moved if tree]
