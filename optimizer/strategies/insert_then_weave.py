"""Insert-then-Weave: put the queries one by one where they add least, then merge the trees that came of it."""

from __future__ import annotations

from optimizer.strategies.contract.problem import Problem, Watch
from optimizer.strategies.contract.strategy import Draft
from optimizer.strategies.contract.units import CostModel, Pricing, Units
from optimizer.strategies.search.incremental import insert
from optimizer.strategies.search.moves import merge_best


def insert_then_weave(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """Insert the classes in the order of their smallest queries, then weave."""
    units = Units.classes(problem)
    price = Pricing(units, model).tree
    trees: list[int] = []
    for unit in range(len(units)):
        trees = insert(trees, 1 << unit, price)
        watch.report(unit / len(units))
    return Draft.of_forest(units, merge_best(trees, price, watch))
