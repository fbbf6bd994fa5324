"""What trees cost when each reads the raw events or the partials of another, whichever is cheaper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.strategies.draft import RAW, Draft
from optimizer.strategies.pricing import Pricing
from optimizer.windows.edge_space import EdgeSpace


@dataclass(frozen=True)
class Cascade:
    """Trees as masks of units, what feeds each, and what all cost; a root that answers no query comes last, as 0."""

    trees: tuple[int, ...]
    feeds: tuple[int, ...]
    cost: float


class Cascades:
    """Finds the feeds of forests."""

    def __init__(self, pricing: Pricing) -> None:
        self.pricing, self.units = pricing, pricing.units
        self.space, self.everything = pricing.units.problem.space, pricing.units.problem.everything
        self._costs: dict[tuple[int, ...], float] = {}

    def cost(self, forest: Sequence[int]) -> float:
        """What a forest costs with its best feeds, remembered."""
        key = tuple(sorted(forest))
        if key not in self._costs:
            self._costs[key] = self.fed(key).cost
        return self._costs[key]

    def fed(self, forest: Sequence[int]) -> Cascade:
        """The better of the forest alone and the forest under a root that has all edges and answers no query."""
        trees = tuple(forest)
        edges = [self.units.edge_mask(tree) for tree in trees]
        alone = self._chosen(trees, edges)
        if any(self.space.contains(mask, self.everything) for mask in edges):
            return alone
        rooted = self._chosen((*trees, 0), [*edges, self.everything])
        return rooted if rooted.cost < alone.cost else alone

    def _chosen(self, trees: tuple[int, ...], edges: list[int]) -> Cascade:
        """Every tree takes the cheapest of the raw events and the trees whose edges contain its own."""
        keys, events = self.pricing.model.keys, self.pricing.model.rate
        rates = [self.space.rate_float(mask) for mask in edges]
        order = sorted(range(len(trees)), key=lambda place: (rates[place], trees[place]))
        feeds = [RAW] * len(trees)
        for at, tree in enumerate(order):
            for feeder in order[at + 1 :]:
                if rates[feeder] * keys >= events:
                    break
                if rates[feeder] > rates[tree] and self.space.contains(edges[feeder], edges[tree]):
                    feeds[tree] = feeder
                    break
        return Cascade(trees, tuple(feeds), self._cost(trees, feeds, rates))

    def _cost(self, trees: tuple[int, ...], feeds: list[int], rates: list[float]) -> float:
        events, keys = self.pricing.model.rate, self.pricing.model.keys
        carried = carried_measures([self.units.measures_of(tree) for tree in trees], feeds)
        fed = sum(
            (events if feed == RAW else rates[feed] * keys) * measures.bit_count()
            for feed, measures in zip(feeds, carried, strict=True)
        )
        return fed + sum(self.pricing.finals(tree) for tree in sorted(trees) if tree)


def carried_measures(own: Sequence[int], feeds: Sequence[int]) -> list[int]:
    """The measures that every tree holds, its own and what the trees it feeds need, as masks."""
    carried = list(own)
    for tree, measures in enumerate(own):
        while (tree := feeds[tree]) != RAW:
            carried[tree] |= measures
    return carried


def draft_cost(draft: Draft, pricing: Pricing) -> float:
    """What a draft costs, whoever made it; the pricing's units are the ones it was made of."""
    trees = [*forest_of(draft, pricing), *(0 for _ in draft.free)]
    space, units = pricing.units.problem.space, pricing.units
    rates = [space.rate_float(units.edge_mask(tree)) for tree in trees[: draft.answering]]
    rates += [EdgeSpace([edges]).rate_float(1) for edges in draft.free]
    carried = carried_measures([units.measures_of(tree) for tree in trees], draft.feeds)
    fed = sum(
        (pricing.model.rate if feed == RAW else rates[feed] * pricing.model.keys) * measures.bit_count()
        for feed, measures in zip(draft.feeds, carried, strict=True)
    )
    return fed + sum(pricing.finals(tree) for tree in sorted(trees) if tree)


def forest_of(draft: Draft, pricing: Pricing) -> list[int]:
    """The trees of a draft as masks of units."""
    units = pricing.units
    forest = [0] * draft.answering
    for unit, tree in enumerate(draft.labels[np.searchsorted(units.unit_of, np.arange(len(units)))].tolist()):
        forest[tree] |= 1 << unit
    return forest
