"""TriWeave: one sub-aggregation at the union of all edges, whose partials every tree folds into its own."""

from __future__ import annotations

import numpy as np

from optimizer.cost.tree_cost import RAW
from optimizer.strategies.contract.problem import Problem, Watch
from optimizer.strategies.contract.strategy import Draft
from optimizer.strategies.contract.units import CostModel, Pricing, Units
from optimizer.strategies.weave_share import weave_units
from optimizer.windows.window import BoolArray, FloatArray


class TriPricing(Pricing):
    """A tree pays the union's edge rate, unless its edges are the union's; the raw events are paid for once."""

    def __init__(self, units: Units, model: CostModel) -> None:
        super().__init__(units, model)
        self.union_rate = units.problem.space.rate_float(units.problem.everything)

    def feeds(self, rates: FloatArray, served: FloatArray) -> FloatArray:
        """Return what trees pay for the union's partials."""
        currency = self.model.currency
        level = currency.level_feed(np.full_like(rates, self.union_rate), served)
        return np.where(self.has_all_edges(rates), currency.tree, level)

    def has_all_edges(self, rates: FloatArray) -> BoolArray:
        """Return whether trees with these edge rates have all edges."""
        return np.asarray(np.abs(rates - self.union_rate) <= 1e-12 * self.union_rate)


def tri_weave(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """Weave under TriWeave's cost; where events are rarer than edges, every class reads the raw events instead."""
    pricing, forest = weave_units(problem, model, TriPricing, watch)
    classes = Pricing(Units.classes(problem), model)
    alone = [1 << unit for unit in range(len(classes.units))]
    union_rate, measures = np.array(pricing.rate(pricing.units.everything)), np.array(float(len(problem.measures)))
    union_feed = float(model.root_feed(union_rate, measures))
    if union_feed + pricing.forest(forest) > classes.forest(alone):
        return Draft.of_forest(classes.units, alone)
    return under_root(pricing.units, forest)


def under_root(units: Units, forest: list[int]) -> Draft:
    """Return trees fed by a tree that has all edges: one of them, or one of its own that answers no query."""
    space, everything = units.problem.space, units.problem.everything
    whole = [tree for tree in forest if space.contains(units.edge_mask(tree), everything)]
    root = sum(whole)
    trees = [root, *(tree for tree in forest if tree not in whole)] if whole else forest
    if whole:
        return Draft.of_forest(units, trees, (RAW,) + (0,) * (len(trees) - 1))
    feeds = (len(trees),) * len(trees) + (RAW,)
    return Draft.of_forest(units, trees, feeds, (space.edges(everything),), (everything,))
