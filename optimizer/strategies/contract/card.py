"""What a strategy is, as data: read by the tests, the command line and the docs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from optimizer.strategies.contract.draft import Draft
from optimizer.strategies.contract.pricing import CostModel
from optimizer.strategies.contract.problem import Problem
from optimizer.strategies.contract.watch import Watch

Strategy = Callable[[Problem, CostModel, Watch], Draft]


@dataclass(frozen=True)
class Card:
    """A strategy: what it does, what it takes (n queries, c classes of equal edges, m trees), and who described it."""

    name: str
    full_name: str
    run: Strategy
    model: str  # the cost model it minimises: weave_share, tri_weave or cascade
    time: str
    paper: str
    per_query: bool = False  # equal windows are planned one by one
    bounded: bool = True  # never dearer than no_share; one shared tree can be, and is what its name says all the same
