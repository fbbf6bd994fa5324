"""Incremental WeaveShare: queries join one by one where they add least; when the plan has drifted, it is woven anew.

This is the strategy as a plan from nothing; optimizer/planning/reweave.py keeps a plan up while queries come and
go, by the same search.
"""

from __future__ import annotations

from optimizer.strategies.contract.draft import Draft
from optimizer.strategies.contract.pricing import CostModel, Pricing
from optimizer.strategies.contract.problem import Problem
from optimizer.strategies.contract.units import Units, bits
from optimizer.strategies.contract.watch import Watch
from optimizer.strategies.search.incremental import IncrementalForest
from optimizer.strategies.search.moves import merge_best, refine

FEW = 64  # so many classes are woven from nothing; of more, the trees are refined as they are


def incremental_weave_share(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """Insert the classes in the order of their smallest queries, and rebuild on the way when the drift is too large."""
    units = Units.classes(problem)
    price = Pricing(units, model).tree

    def weave(trees: list[int]) -> list[int]:
        singles = [1 << unit for unit in bits(sum(trees))]
        if watch.stopped or len(singles) > FEW:
            return refine(trees, price, watch)
        return merge_best(singles, price, watch)

    forest = IncrementalForest(price, weave)
    for unit in range(len(units)):
        forest.join(1 << unit, unit + 1)
        watch.report(unit / len(units))
    return Draft.of_forest(units, forest.trees)
