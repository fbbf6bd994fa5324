"""WeaveShare: greedy merging with a cost lookup over classes of equal edges, refined by moving single windows.

Where windows are few, the literal greedy over windows is a second start: merging whole classes first can lose to it
when ranges count once (invertible techniques) or Omega is not monotone (FlatFAT).
"""

from __future__ import annotations

from collections.abc import Callable

from optimizer.problem import Problem
from optimizer.strategies.draft import Draft
from optimizer.strategies.greedy import greedy
from optimizer.strategies.moves import refine
from optimizer.strategies.pricing import CostModel, Pricing
from optimizer.strategies.units import Units
from optimizer.strategies.watch import Watch

FEW = 300  # so many windows are also woven one by one
MANY = 400  # above so many classes moves are left out
MOVES = 10_000  # that are tried at most, about

Pricer = Callable[[Units, CostModel], Pricing]


def weave_share(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """The best of both starts, refined."""
    pricing, forest = woven(problem, model, Pricing, watch)
    return Draft.of_forest(pricing.units, forest)


def woven(problem: Problem, model: CostModel, pricer: Pricer, watch: Watch) -> tuple[Pricing, list[int]]:
    """Weave under any cost that is a sum over trees."""
    classes = Units.classes(problem)
    pricing = pricer(classes, model)
    forest = greedy(pricing, watch)
    if len(classes) <= MANY:
        forest = moved(forest, pricing, watch)
    if watch.stopped or len(problem.windows) > FEW or len(problem.windows) == len(classes):
        return pricing, forest
    by_window = pricer(Units.windows(problem), model)
    starts = ([classes.spread(tree) for tree in forest], greedy(by_window, watch))
    return by_window, min((moved(start, by_window, watch) for start in starts), key=by_window.forest)


def moved(forest: list[int], pricing: Pricing, watch: Watch) -> list[int]:
    """The forest refined, in fewer passes the more moves each has to try."""
    passes = MOVES // (len(pricing.units) * len(forest))
    return refine(forest, pricing.tree, watch, max(1, min(20, passes)))
