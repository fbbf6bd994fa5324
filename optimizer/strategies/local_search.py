"""Local search: from every class in a tree of its own, move classes and merge trees while the cost falls."""

from __future__ import annotations

from optimizer.strategies.contract.problem import Problem, Watch
from optimizer.strategies.contract.strategy import Draft
from optimizer.strategies.contract.units import CostModel, Pricing, Units
from optimizer.strategies.search.moves import refine


def local_search(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """Steepest descent, unit by unit, to a plan that no single move improves."""
    units = Units.classes(problem)
    start = [1 << unit for unit in range(len(units))]
    return Draft.of_forest(units, refine(start, Pricing(units, model).tree, watch))
