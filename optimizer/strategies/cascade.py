"""Cascade: every tree reads the raw events or the partials of a tree whose edges contain its own.

Exact over classes while they are few, else annealed from the best start; then moved window by window. The plans of
WeaveShare, TriWeave and factor windows are special cases and candidates, so none of them is ever cheaper.

A move puts one unit elsewhere or merges two trees. Annealing makes a fixed number of seeded steps, so that the result
is always the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from optimizer.cost.tree_cost import OPERATIONS
from optimizer.strategies.contract.problem import Problem, Watch
from optimizer.strategies.contract.strategy import Draft, draft_cost, forest_of
from optimizer.strategies.contract.units import EPSILON, CostModel, Pricing, Units, bits
from optimizer.strategies.factor_windows import cheapest_factors
from optimizer.strategies.search.feeds import Cascade, Cascades, add_helpers, as_draft
from optimizer.strategies.search.subset_dp import MOST_UNITS, cheapest_cascade, subset_table
from optimizer.strategies.tri_weave import tri_weave
from optimizer.strategies.weave_share import FEW, weave_share

STARTS = (weave_share, tri_weave, cheapest_factors)
ForestPrice = Callable[[Sequence[int]], float]
TRIES = 300
MANY = 40  # trees; a forest of more takes longer to price
STEPS = 300
WARM, COLD = 2e-2, 1e-5  # temperatures, relative to the cost
SEED = 2026


def cascade(problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """Return the cheapest of the exact or annealed cascade and the other strategies' plans."""
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
    """Return the best cascade of whole classes."""
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
    """Return the best of the starts, moved window by window."""
    cascades = Cascades(pricing)
    starts = [forest_of(draft, pricing.units) for draft in drafts]
    best = descend(min(starts, key=cascades.cost), cascades.cost, watch)
    return as_draft(add_helpers(cascades.feed(best), cascades), pricing.units)


def exact(pricing: Pricing, helpers: bool = True) -> Cascade:
    """Return the cheapest cascade of up to 16 units; without helpers, only its root may answer no query."""
    units, model = pricing.units, pricing.model
    nodes = cheapest_cascade(subset_table(units, model), model.rate, helpers)
    trees, subsets, feeds = zip(*nodes, strict=True)
    return Cascade(trees, tuple(map(units.edge_mask, subsets)), feeds)


def fewer(tries: int, forest: Sequence[int]) -> int:
    """Return how many of the tries a search has for a forest of this size: large ones take longer to price."""
    return max(1, round(tries * min(1.0, MANY / len(forest))))


def descend(forest: Sequence[int], price: ForestPrice, watch: Watch, tries: int = TRIES) -> list[int]:
    """Return the forest after all moves that pay, or as many as there were tries for; never dearer than before."""
    search = Descent(sorted(forest), price, watch, fewer(tries, forest))
    before = float("inf")
    while search.cost < before and not search.ended:
        before = search.cost
        for unit in bits(sum(forest)):
            search.take_best(moves(search.trees, 1 << unit))
        search.take_best(merges(search.trees))
    return search.trees


class Descent:
    """Where a descent stands, and how many forests it may still price."""

    def __init__(self, trees: list[int], price: ForestPrice, watch: Watch, tries: int) -> None:
        self.trees, self.cost, self.price = trees, price(trees), price
        self._watch, self._tries = watch, tries

    @property
    def ended(self) -> bool:
        """Whether it was stopped, or has used up its tries."""
        return self._watch.stopped or self._tries <= 0

    def take_best(self, choices: Iterator[list[int]]) -> None:
        """Go to the cheapest of the choices, if it is cheaper."""
        for choice in choices:
            if self.ended:
                break
            self._tries -= 1
            cost = self.price(choice)
            if cost < self.cost * (1 - EPSILON):
                self.trees, self.cost = choice, cost


def moves(trees: list[int], unit: int) -> Iterator[list[int]]:
    """Yield the forests in which a unit is in another tree, or in one of its own."""
    home = next(tree for tree in trees if tree & unit)
    rest = [home & ~unit] if home & ~unit else []
    others = [tree for tree in trees if tree != home]
    for target in others:
        yield sorted([tree for tree in others if tree != target] + [target | unit, *rest])
    if rest:
        yield sorted([*others, unit, *rest])


def merges(trees: list[int]) -> Iterator[list[int]]:
    """Yield the forests in which two trees are one."""
    for place, tree in enumerate(trees):
        for other in trees[place + 1 :]:
            yield sorted([third for third in trees if third not in (tree, other)] + [tree | other])


def anneal(forest: Sequence[int], price: ForestPrice, watch: Watch, steps: int = STEPS) -> list[int]:
    """Return the cheapest forest that simulated annealing meets."""
    rng = np.random.default_rng(SEED)
    steps = fewer(steps, forest)
    units = list(bits(sum(forest)))
    now, cost = list(forest), price(forest)
    best, least = now, cost
    for step in range(steps):
        if watch.stopped or len(units) < 2:
            break
        neighbour = _neighbour(now, units, rng)
        change = price(neighbour) / cost - 1
        temperature = WARM * (COLD / WARM) ** (step / steps)
        if change <= 0 or rng.random() < math.exp(-change / temperature):
            now, cost = neighbour, price(neighbour)
            if cost < least:
                best, least = now, cost
        watch.report(step / steps)
    return best


def _neighbour(trees: list[int], units: list[int], rng: np.random.Generator) -> list[int]:
    """Return the forest with a random unit in another tree or in one of its own; now and then two trees merged."""
    if len(trees) > 1 and rng.random() < 0.1:
        first, second = rng.choice(len(trees), 2, replace=False).tolist()
        rest = [tree for place, tree in enumerate(trees) if place not in (first, second)]
        return [*rest, trees[first] | trees[second]]
    unit = 1 << units[int(rng.integers(len(units)))]
    bare = [tree & ~unit for tree in trees]
    target = int(rng.integers(len(trees) + 1))
    moved = [tree | unit if place == target else tree for place, tree in enumerate([*bare, 0])]
    return [tree for tree in moved if tree]
