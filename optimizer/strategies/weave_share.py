"""WeaveShare: greedy merging with a cost look-up, over classes of equal edges and, where they are few, over windows."""

from __future__ import annotations

from optimizer.problem import Problem
from optimizer.strategies.draft import Draft
from optimizer.strategies.greedy import Loom, greedy
from optimizer.strategies.pricing import CostModel, Pricing
from optimizer.strategies.units import Units
from optimizer.strategies.watch import Watch


def weave_share(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """The cheaper of both starts."""
    units = Units.classes(problem)
    return Draft.of_forest(units, greedy(Loom(Pricing(units, model)), watch))
