"""Every query in a tree of its own: what Spark does by itself, and the yardstick of every other plan."""

from __future__ import annotations

import numpy as np

from optimizer.cost.tree_cost import RAW
from optimizer.strategies.contract.problem import Problem, Watch
from optimizer.strategies.contract.strategy import Draft
from optimizer.strategies.contract.units import CostModel


def no_share(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """Give every query a tree of its own."""
    count = len(problem.windows)
    return Draft(np.arange(count), (RAW,) * count)
