"""WeaveShare: greedy merging with a cost lookup over classes of equal edges, refined by moving single windows.

Where windows are few, the literal greedy over windows is a second start: merging whole classes first can lose to it
when ranges count once (invertible techniques) or Omega is not monotone (FlatFAT).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from optimizer.strategies.contract.draft import Draft
from optimizer.strategies.contract.pricing import CostModel, Pricing
from optimizer.strategies.contract.problem import Problem
from optimizer.strategies.contract.units import Units, bits
from optimizer.strategies.contract.watch import Watch
from optimizer.strategies.search.greedy import greedy
from optimizer.strategies.search.moves import refine
from optimizer.windows.edge_space import mask_of
from optimizer.windows.pair_table import LoosePairs

FEW = 300  # so many windows are also woven one by one
MANY = 400  # above so many classes moves are left out
MOST = 3000  # classes that are woven; of more, those with the most windows, and the rest stay alone
LOOSE = 400  # the same where edges can only be counted by recursion
MOVES = 10_000  # that are tried at most, about; where one pass would take five times as many, none

Pricer = Callable[[Units, CostModel], Pricing]


def weave_share(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """The best of both starts, refined."""
    pricing, forest = woven(problem, model, Pricing, watch)
    return Draft.of_forest(pricing.units, forest)


def woven(problem: Problem, model: CostModel, pricer: Pricer, watch: Watch) -> tuple[Pricing, list[int]]:
    """Weave under any cost that is a sum over trees."""
    classes = Units.classes(problem)
    pricing = pricer(classes, model)
    most = LOOSE if isinstance(problem.space.pair_table([1]), LoosePairs) else MOST
    few = len(classes) <= most
    forest = greedy(pricing, watch) if few else _woven_part(problem, model, pricer, most, watch)
    if len(classes) <= MANY:
        forest = moved(forest, pricing, watch)
    if watch.stopped or len(problem.windows) > FEW or len(problem.windows) == len(classes):
        return pricing, forest
    by_window = pricer(Units.windows(problem), model)
    starts = ([classes.spread(tree) for tree in forest], greedy(by_window, watch))
    return by_window, min((moved(start, by_window, watch) for start in starts), key=by_window.forest)


def _woven_part(problem: Problem, model: CostModel, pricer: Pricer, most: int, watch: Watch) -> list[int]:
    """Weave the classes with the most windows; a table of all pairs would not fit, or take minutes to fill."""
    sizes = np.bincount(problem.class_of, minlength=len(problem.classes))
    largest = np.sort(np.argsort(-sizes, kind="stable")[:most])
    part = problem.part(largest)
    forest = greedy(pricer(Units.classes(part), model), watch)
    alone = np.setdiff1d(np.arange(len(sizes)), largest).tolist()
    return [mask_of(largest[list(bits(tree))].tolist()) for tree in forest] + [1 << unit for unit in alone]


def moved(forest: list[int], pricing: Pricing, watch: Watch) -> list[int]:
    """The forest refined, in fewer passes the more moves each has to try."""
    moves = len(pricing.units) * len(forest)
    return refine(forest, pricing.tree, watch, max(1, min(20, MOVES // moves))) if moves <= 5 * MOVES else forest
