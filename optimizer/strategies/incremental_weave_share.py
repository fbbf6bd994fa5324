"""Incremental WeaveShare: queries join one by one where they add least; when the plan has drifted, it is woven anew.

This is the strategy as a plan from nothing; optimizer/planning/reweave.py keeps a plan up while queries come and
go, by the same search.
"""

from __future__ import annotations

from optimizer.strategies.contract.problem import Problem, Watch
from optimizer.strategies.contract.strategy import Draft
from optimizer.strategies.contract.units import CostModel, Pricing, Units, bits
from optimizer.strategies.search.incremental import Drift, insert, settle
from optimizer.strategies.search.moves import merge_best, refine

PATIENCE = 0.25  # of the classes of the last build: a plan from nothing grows by itself
FEW = 64  # so many classes are woven from nothing; of more, the trees are refined as they are


def incremental_weave_share(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """Insert the classes in the order of their smallest queries, and rebuild on the way when the drift is too large."""
    units = Units.classes(problem)
    pricing = Pricing(units, model)
    drift, trees = Drift(patience=PATIENCE), list[int]()
    for unit in range(len(units)):
        trees = insert(trees, 1 << unit, pricing.tree)
        home = next(tree for tree in trees if tree >> unit & 1)
        trees = settle(trees, home, pricing.tree, pricing.forest)
        drift.count_change()
        if drift.is_due(unit + 1, pricing.forest(trees)):
            trees = min(_weave(trees, pricing, watch), trees, key=pricing.forest)
            drift.remember_build(unit + 1, pricing.forest(trees))
        watch.report(unit / len(units))
    return Draft.of_forest(units, trees)


def _weave(trees: list[int], pricing: Pricing, watch: Watch) -> list[int]:
    """Weave the units from nothing while they are few, else refine the trees as they are."""
    singles = [1 << unit for unit in bits(sum(trees))]
    if watch.stopped or len(singles) > FEW:
        return refine(trees, pricing.tree, watch)
    return merge_best(singles, pricing.tree, watch)
