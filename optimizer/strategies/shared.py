"""All queries in one tree: the least partial work, the most final work."""

from __future__ import annotations

import numpy as np

from optimizer.cost.tree_cost import RAW
from optimizer.strategies.contract.problem import Problem, Watch
from optimizer.strategies.contract.strategy import Draft
from optimizer.strategies.contract.units import CostModel


def shared(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """Put all queries into one tree."""
    return Draft(np.zeros(len(problem.windows), dtype=np.int64), (RAW,), by_class=True)
