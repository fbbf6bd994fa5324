"""All partitions of a few windows: the oracle that the other strategies are measured by."""

from __future__ import annotations

from optimizer.errors import HeddleError
from optimizer.strategies.contract.problem import Problem, Watch
from optimizer.strategies.contract.strategy import Draft
from optimizer.strategies.contract.units import EPSILON, CostModel, Pricing, Units
from optimizer.strategies.search.moves import Price

MOST = 12


def exhaustive(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """Return the cheapest partition of the windows into trees that read the raw events."""
    units = Units.windows(problem)
    if len(units) > MOST:
        raise HeddleError(
            f"exhaustive takes at most {MOST} distinct windows, not {len(units)}; use weave_share or cascade"
        )
    return Draft.of_forest(units, cheapest_partition(units.everything, Pricing(units, model).tree, watch))


def cheapest_partition(everything: int, price: Price, watch: Watch) -> list[int]:
    """By dynamic programming over subsets: the tree of the smallest unit, and the best partition of the rest."""
    best: dict[int, float] = {0: 0.0}
    tree_of: dict[int, int] = {}
    for subset in range(1, everything + 1):
        first, rest = subset & -subset, subset & (subset - 1)
        best[subset] = float("inf")
        companions = rest
        while True:
            cost = price(first | companions) + best[rest & ~companions]
            if cost < best[subset] * (1 - EPSILON):
                best[subset], tree_of[subset] = cost, first | companions
            if not companions:
                break
            companions = (companions - 1) & rest
        watch.report(subset / everything)
    forest: list[int] = []
    while everything:
        forest.append(tree_of[everything])
        everything &= ~forest[-1]
    return forest
