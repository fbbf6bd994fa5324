"""Moves over whole forests, for costs that are no sum over trees: one unit elsewhere, or two trees merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from optimizer.strategies.pricing import EPSILON
from optimizer.strategies.units import bits
from optimizer.strategies.watch import Watch

ForestPrice = Callable[[Sequence[int]], float]


def descend(forest: Sequence[int], price: ForestPrice, watch: Watch, passes: int = 10) -> list[int]:
    """The forest after all moves that pay; never dearer than before."""
    trees, cost = sorted(forest), price(forest)
    for _ in range(passes):
        before = cost
        for unit in bits(sum(trees)):
            trees, cost = _best(trees, cost, moves(trees, 1 << unit), price)
            if watch.stopped:
                return trees
        trees, cost = _best(trees, cost, merges(trees), price)
        if cost >= before:
            break
    return trees


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
            yield sorted([found for found in trees if found not in (tree, other)] + [tree | other])


def _best(trees: list[int], cost: float, choices: Iterator[list[int]], price: ForestPrice) -> tuple[list[int], float]:
    for choice in choices:
        found = price(choice)
        if found < cost * (1 - EPSILON):
            trees, cost = choice, found
    return trees, cost
