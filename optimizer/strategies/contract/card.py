"""What a strategy is, as data: read by the tests, the command line and the docs."""

from __future__ import annotations

from dataclasses import dataclass

from optimizer.strategies.contract.bounds import Search, cheapest_with_plain, search_in_bundles
from optimizer.strategies.contract.draft import Draft
from optimizer.strategies.contract.options import Watch
from optimizer.strategies.contract.pricing import CostModel
from optimizer.strategies.contract.problem import Problem


@dataclass(frozen=True)
class Card:
    """A strategy: what it does, what it takes (n queries, c classes of equal edges, m trees), and who described it."""

    name: str
    full_name: str
    run: Search
    model: str  # the cost model it minimises: weave_share, tri_weave or cascade
    time: str
    paper: str
    per_query: bool = False  # equal windows are planned one by one
    plain: bool = False  # is what its name says, whatever it costs; others never end above no_share and shared
    in_bundles: bool = True  # many classes are searched in bundles

    def draft(self, problem: Problem, model: CostModel, watch: Watch) -> Draft:
        """Run the strategy; where it is not plain, the draft never costs more than no_share and shared do."""
        if self.plain:
            return self.run(problem, model, watch)
        if self.in_bundles:
            draft = search_in_bundles(self.run, problem, model, watch)
        else:
            draft = self.run(problem, model, watch)
        return cheapest_with_plain(draft, problem, model)
