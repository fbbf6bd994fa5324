"""WeaveShare: greedy merging with a cost lookup over classes of equal edges, refined by moving single windows.

Where windows are few, the literal greedy over windows is a second start: merging whole classes first can lose to it
when ranges count once (invertible techniques) or Omega is not monotone (FlatFAT).
"""

from __future__ import annotations

from collections.abc import Callable

from optimizer.strategies.contract.problem import Problem, Watch
from optimizer.strategies.contract.strategy import Draft
from optimizer.strategies.contract.units import CostModel, Pricing, Units
from optimizer.strategies.search.greedy import greedy
from optimizer.strategies.search.moves import move_units, refine

FEW = 300  # so many windows are also woven one by one
MOVES = 10_000  # that are tried one by one at most, about; where one pass would take five times as many, none
FEW_MOVES = 500  # are tried one by one; more, for all trees at once

Pricer = Callable[[Units, CostModel], Pricing]


def weave_share(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """Return the cheaper of the forests that the two starts lead to, refined."""
    pricing, forest = weave_units(problem, model, Pricing, watch)
    return Draft.of_forest(pricing.units, forest)


def weave_units(problem: Problem, model: CostModel, pricer: Pricer, watch: Watch) -> tuple[Pricing, list[int]]:
    """Weave under any cost that is a sum over trees."""
    classes = Units.classes(problem)
    pricing = pricer(classes, model)
    forest = refine_forest(greedy(pricing, watch), pricing, watch)
    if watch.stopped or problem.bundled or len(problem.windows) > FEW or len(problem.windows) == len(classes):
        return pricing, forest
    by_window = pricer(Units.windows(problem), model)
    starts = ([classes.spread(tree) for tree in forest], greedy(by_window, watch))
    return by_window, min((refine_forest(start, by_window, watch) for start in starts), key=by_window.forest)


def refine_forest(forest: list[int], pricing: Pricing, watch: Watch) -> list[int]:
    """Return the forest after all moves that pay, in fewer passes the more moves each has to try."""
    moves = len(pricing.units) * len(forest)
    atoms = pricing.units.problem.space.searched
    if atoms is None or moves <= FEW_MOVES:
        return refine(forest, pricing.tree, watch, max(1, min(20, MOVES // moves))) if moves <= 5 * MOVES else forest
    return move_units(forest, pricing, atoms, watch, max(1, min(5, 100 * MOVES // moves)))
