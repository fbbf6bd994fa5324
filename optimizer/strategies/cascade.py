"""Cascade: every tree reads the raw events or the partials of a tree whose edges contain its own.

Exact over classes while they are few, else annealed from the best start; then moved window by window. The plans of
WeaveShare, TriWeave and factor windows are special cases and candidates, so none of them is ever cheaper.
"""

from __future__ import annotations

from optimizer.cost.tree_cost import OPERATIONS
from optimizer.strategies.contract.bounds import draft_cost, forest_of
from optimizer.strategies.contract.draft import Draft
from optimizer.strategies.contract.options import Watch
from optimizer.strategies.contract.pricing import CostModel, Pricing
from optimizer.strategies.contract.problem import Problem
from optimizer.strategies.contract.units import Units
from optimizer.strategies.factor_windows import cheapest_factors
from optimizer.strategies.search.feeds import Cascade, Cascades, add_helpers, as_draft
from optimizer.strategies.search.forest_moves import anneal, descend
from optimizer.strategies.search.subset_dp import MOST_UNITS, cheapest_cascade, subset_table
from optimizer.strategies.tri_weave import tri_weave
from optimizer.strategies.weave_share import FEW, weave_share

STARTS = (weave_share, tri_weave, cheapest_factors)


def cascade(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """The cheapest of the exact or annealed cascade and the other strategies' plans."""
    pricings = {True: Pricing(Units.classes(problem), model)}
    if len(problem.windows) <= FEW:
        pricings[False] = Pricing(Units.windows(problem), model)
    starts = STARTS[:-1] if problem.bundled else STARTS  # the window of a bundle is no factor of others
    drafts = [start(problem, model, watch) for start in starts]
    if not watch.stopped:
        drafts.append(_over_classes(pricings[True], drafts, watch))
    if False in pricings and not watch.stopped:
        drafts.append(_over_windows(pricings[False], drafts, watch))
    return min(drafts, key=lambda draft: draft_cost(draft, pricings[draft.by_class]))


def _over_classes(pricing: Pricing, drafts: list[Draft], watch: Watch) -> Draft:
    """The best cascade of whole classes."""
    units = pricing.units
    if len(units) <= MOST_UNITS and pricing.model.currency == OPERATIONS:  # exact for feeds that only measures add to
        cascade = exact(pricing)
        if units.problem.space.searches_exactly:  # an estimate is no proof that one tree has the edges of another
            return as_draft(cascade, units)
    cascades = Cascades(pricing)
    starts = [forest_of(draft, units) for draft in drafts if draft.by_class]
    starts.append([1 << unit for unit in range(len(units))])
    best = descend(min(starts, key=cascades.cost), cascades.cost, watch)
    return as_draft(add_helpers(cascades.feed(anneal(best, cascades.cost, watch)), cascades), units)


def _over_windows(pricing: Pricing, drafts: list[Draft], watch: Watch) -> Draft:
    """The best of the starts, moved window by window."""
    cascades = Cascades(pricing)
    starts = [forest_of(draft, pricing.units) for draft in drafts]
    best = descend(min(starts, key=cascades.cost), cascades.cost, watch)
    return as_draft(add_helpers(cascades.feed(best), cascades), pricing.units)


def exact(pricing: Pricing, helpers: bool = True) -> Cascade:
    """The cheapest cascade of up to 16 units; without helpers, only its root may answer no query."""
    units, model = pricing.units, pricing.model
    nodes = cheapest_cascade(subset_table(units, model), model.rate, helpers)
    trees, subsets, feeds = zip(*nodes, strict=True)
    return Cascade(trees, tuple(map(units.edge_mask, subsets)), feeds)
