"""Incremental WeaveShare: queries join one by one where they add least; when the plan has drifted, it is woven anew.

This is the strategy as a plan from nothing; optimizer/running.py keeps a plan up while queries come and go.
"""

from __future__ import annotations

from optimizer.strategies.contract.draft import Draft
from optimizer.strategies.contract.pricing import CostModel, Pricing
from optimizer.strategies.contract.problem import Problem
from optimizer.strategies.contract.units import Units, bits
from optimizer.strategies.contract.watch import Watch
from optimizer.strategies.insert_then_weave import insert
from optimizer.strategies.search.drift import Drift
from optimizer.strategies.search.moves import merge_best, refine

FEW = 64  # so many classes are woven from nothing; of more, the trees are refined as they are


def incremental_weave_share(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """Insert the classes in the order of their smallest queries, and rebuild on the way when the drift is too large."""
    units = Units.classes(problem)
    pricing = Pricing(units, model)
    drift = Drift()
    trees: list[int] = []
    for unit in range(len(units)):
        trees = insert(trees, 1 << unit, pricing.tree)
        drift.changed()
        if drift.due(unit + 1, pricing.forest(trees)) and not watch.stopped:
            trees = min(trees, rebuilt(trees, pricing, watch), key=pricing.forest)
            drift.built(unit + 1, pricing.forest(trees))
        watch.report(unit / len(units))
    return Draft.of_forest(units, trees)


def rebuilt(trees: list[int], pricing: Pricing, watch: Watch) -> list[int]:
    """The same units, woven anew."""
    singles = [1 << unit for unit in bits(sum(trees))]
    if len(singles) > FEW:
        return refine(trees, pricing.tree, watch)
    return merge_best(singles, pricing.tree, watch)
