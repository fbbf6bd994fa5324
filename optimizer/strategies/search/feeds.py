"""What trees cost when each reads the raw events or the partials of another, whichever is cheaper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.cost.tree_cost import RAW
from optimizer.strategies.contract.draft import Draft
from optimizer.strategies.contract.pricing import Pricing
from optimizer.strategies.contract.units import Units
from optimizer.windows.edge_space import EdgeSpace


@dataclass(frozen=True)
class Cascade:
    """Trees as masks of units, 0 for one that answers no query; the classes of their edges; what feeds each."""

    trees: tuple[int, ...]
    edges: tuple[int, ...]
    feeds: tuple[int, ...]


class Cascades:
    """Finds the feeds of forests, and prices them."""

    def __init__(self, pricing: Pricing) -> None:
        self.pricing, self.units = pricing, pricing.units
        self.space, self.everything = pricing.units.problem.space, pricing.units.problem.everything
        self._costs: dict[tuple[int, ...], float] = {}
        self._contains: dict[tuple[int, int], bool] = {}

    def cost(self, forest: Sequence[int]) -> float:
        """What a forest costs with its best feeds, remembered."""
        key = tuple(sorted(forest))
        if key not in self._costs:
            self._costs[key] = self.price(self.fed(key))
        return self._costs[key]

    def fed(self, forest: Sequence[int]) -> Cascade:
        """The better of the forest alone and the forest under a root that has all edges and answers no query."""
        trees = tuple(forest)
        edges = tuple(self.units.edge_mask(tree) for tree in trees)
        alone = self._chosen(trees, edges)
        if any(self.contains(mask, self.everything) for mask in edges):
            return alone
        return min(alone, self._chosen((*trees, 0), (*edges, self.everything)), key=self.price)

    def price(self, cascade: Cascade) -> float:
        """Every tree's feed, once per measure it holds, and its finals."""
        carried = carried_measures([self.units.measures_of(tree) for tree in cascade.trees], cascade.feeds)
        rates, counts = list(map(self._rate, cascade.edges)), [measures.bit_count() for measures in carried]
        model = self.pricing.model
        fed = model.currency.feeds_of_forest(model.rate, rates, counts, cascade.feeds)
        return fed + sum(self.pricing.finals(tree) for tree in sorted(cascade.trees) if tree)

    def _chosen(self, trees: tuple[int, ...], edges: tuple[int, ...]) -> Cascade:
        """Every tree takes the cheapest of the raw events and the trees whose edges contain its own."""
        model = self.pricing.model
        rates = [self._rate(mask) for mask in edges]
        as_root = model.root_feed(np.array(rates), np.ones(len(rates))).tolist()
        as_feeder = model.currency.level_feed(np.array(rates), np.ones(len(rates))).tolist()
        order = sorted(range(len(trees)), key=lambda place: (rates[place], trees[place]))
        feeds = [RAW] * len(trees)
        for at, tree in enumerate(order):
            for feeder in order[at + 1 :]:
                if as_feeder[feeder] >= as_root[tree]:
                    break
                if rates[feeder] > rates[tree] and self.contains(edges[feeder], edges[tree]):
                    feeds[tree] = feeder
                    break
        return Cascade(trees, edges, tuple(feeds))

    def contains(self, outer: int, inner: int) -> bool:
        """Whether one set of classes has all edges of another, remembered."""
        key = outer, inner
        if key not in self._contains:
            self._contains[key] = self.space.contains(outer, inner)
        return self._contains[key]

    def _rate(self, mask: int) -> float:
        return self.space.rate_float(mask)


def carried_measures(own: Sequence[int], feeds: Sequence[int]) -> list[int]:
    """The measures that every tree holds, its own and what the trees it feeds need, as masks."""
    carried = list(own)
    for tree, measures in enumerate(own):
        while (tree := feeds[tree]) != RAW:
            carried[tree] |= measures
    return carried


def as_draft(cascade: Cascade, units: Units) -> Draft:
    """A cascade as a draft, its trees without queries last."""
    places = range(len(cascade.trees))
    order = sorted(places, key=lambda place: not cascade.trees[place])
    number = {place: at for at, place in enumerate(order)} | {RAW: RAW}
    forest = [cascade.trees[place] for place in order if cascade.trees[place]]
    free = [units.problem.space.edges(cascade.edges[place]) for place in order if not cascade.trees[place]]
    return Draft.of_forest(units, forest, [number[cascade.feeds[place]] for place in order], free)


def draft_cost(draft: Draft, pricing: Pricing) -> float:
    """What a draft costs, whoever made it; the pricing's units are the ones it was made of."""
    units, model = pricing.units, pricing.model
    forest = forest_of(draft, units)
    rates = [units.problem.space.rate_float(units.edge_mask(tree)) for tree in forest]
    rates += [EdgeSpace([edges]).rate_float(1) for edges in draft.free]
    own = [units.measures_of(tree) for tree in forest] + [0] * len(draft.free)
    counts = [measures.bit_count() for measures in carried_measures(own, draft.feeds)]
    fed = model.currency.feeds_of_forest(model.rate, rates, counts, draft.feeds)
    return fed + sum(map(pricing.finals, sorted(forest)))


def forest_of(draft: Draft, units: Units) -> list[int]:
    """The trees of a draft that answer queries, as masks of units."""
    forest = [0] * draft.answering
    for unit, tree in enumerate(draft.labels[np.searchsorted(units.unit_of, np.arange(len(units)))].tolist()):
        forest[tree] |= 1 << unit
    return forest
