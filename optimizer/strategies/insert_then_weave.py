"""Insert-then-Weave: put the queries one by one where they add least, then merge the trees that came of it."""

from __future__ import annotations

from optimizer.strategies.contract.draft import Draft
from optimizer.strategies.contract.pricing import EPSILON, CostModel, Pricing
from optimizer.strategies.contract.problem import Problem
from optimizer.strategies.contract.units import Units
from optimizer.strategies.contract.watch import Watch
from optimizer.strategies.search.moves import Price, merge_best


def insert_then_weave(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """Insert the classes in the order of their smallest queries, then weave."""
    units = Units.classes(problem)
    price = Pricing(units, model).tree
    trees: list[int] = []
    for unit in range(len(units)):
        trees = insert(trees, 1 << unit, price)
        watch.report(unit / len(units))
    return Draft.of_forest(units, merge_best(trees, price, watch))


def insert(trees: list[int], unit: int, price: Price) -> list[int]:
    """The trees with one unit more: where it adds least, or in a tree of its own."""
    alone = price(unit)
    added = [price(tree | unit) - price(tree) for tree in trees]
    if not added or min(added) >= alone * (1 - EPSILON):
        return [*trees, unit]
    target = added.index(min(added))
    return [tree | unit if place == target else tree for place, tree in enumerate(trees)]
