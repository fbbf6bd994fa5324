"""Random plans, the cheapest of a few: how good is no strategy at all? A fixed seed makes them repeatable."""

from __future__ import annotations

import numpy as np

from optimizer.strategies.contract.problem import Problem, Watch
from optimizer.strategies.contract.strategy import Draft
from optimizer.strategies.contract.units import CostModel, Pricing, Units

DRAWS = 20
SEED = 2011


def random(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """Return the cheapest of random groupings of the classes; one of the draws leaves every class alone."""
    units = Units.classes(problem)
    pricing = Pricing(units, model)
    rng = np.random.default_rng(SEED)
    best = [1 << unit for unit in range(len(units))]
    for draw in range(DRAWS):
        if watch.stopped:
            break
        best = min(best, _grouping(len(units), rng), key=pricing.forest)
        watch.report(draw / DRAWS)
    return Draft.of_forest(units, best)


def _grouping(units: int, rng: np.random.Generator) -> list[int]:
    """Return a forest that has every unit in one of a random number of trees."""
    trees: dict[int, int] = {}
    for unit, tree in enumerate(rng.integers(0, rng.integers(1, units + 1), units).tolist()):
        trees[tree] = trees.get(tree, 0) | 1 << unit
    return list(trees.values())
