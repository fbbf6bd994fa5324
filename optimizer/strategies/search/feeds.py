"""What trees cost when each reads the raw events or the partials of another, whichever is cheaper.

Some trees answer no query: a root that has all edges, and helpers that have the edges of two trees with one feeder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optimizer.cost.tree_cost import RAW
from optimizer.strategies.contract.strategy import Draft, carried_measures
from optimizer.strategies.contract.units import EPSILON, Pricing, Units
from optimizer.windows.window import IntArray

MOST_CHILDREN = 24  # of one feeder; of more, no helpers are tried
MOST_TREES = 120  # of more, neither
MOST_REMEMBERED = 4096  # trees of a table
UNKNOWN, NO, YES = -1, 0, 1


@dataclass(frozen=True)
class Cascade:
    """Trees as masks of units, 0 for one that answers no query; the classes of their edges; what feeds each."""

    trees: tuple[int, ...]
    edges: tuple[int, ...]
    feeds: tuple[int, ...]


class TreeTable:
    """Every tree that a search has looked at, by number: its edges, edge rate, measures and finals, and what it holds.

    Number 0 is the root: the tree that has all edges and answers no query.
    """

    def __init__(self, pricing: Pricing) -> None:
        self.pricing, self.units = pricing, pricing.units
        self.space = pricing.units.problem.space
        self._numbers: dict[int, int] = {}
        self.trees: list[int] = []
        self.edges: list[int] = []
        self.measures: list[int] = []
        self.rates = self.finals = self.as_root = self.as_feeder = np.zeros(0)
        self._contains: NDArray[np.int8] = np.zeros((0, 0), dtype=np.int8)
        self._add(0, self.units.problem.everything)

    def number_of(self, tree: int) -> int:
        """Return the number of a tree, which is looked at for the first time or again."""
        number = self._numbers.get(tree)
        return self._add(tree, self.units.edge_mask(tree)) if number is None else number

    def containment(self, numbers: IntArray) -> NDArray[np.bool_]:
        """Return whether the edges of the tree in a row contain those of the tree in a column.

        Only trees that may feed others are looked at: those with more edges, whose partials cost less than the events.
        """
        answers = self._contains[np.ix_(numbers, numbers)]
        rates = self.rates[numbers]
        feeders = (rates[:, None] > rates) & (self.as_feeder[numbers][:, None] < self.as_root[numbers])
        for outer, inner in np.argwhere(feeders & (answers == UNKNOWN)).tolist():
            contained = self.space.contains(self.edges[numbers[outer]], self.edges[numbers[inner]])
            answers[outer, inner] = self._contains[numbers[outer], numbers[inner]] = YES if contained else NO
        contains: NDArray[np.bool_] = feeders & (answers == YES)
        return contains

    def _add(self, tree: int, edges: int) -> int:
        number = self._numbers[tree] = len(self.trees)
        self.trees.append(tree)
        self.edges.append(edges)
        self.measures.append(self.units.measures_of(tree) if tree else 0)
        if number == len(self.rates):
            self._grow(max(64, 2 * number))
        rate, one = np.array([self.space.rate_float(edges)]), np.ones(1)
        model = self.pricing.model
        self.rates[number] = rate[0]
        self.as_root[number] = model.root_feed(rate, one)[0]  # what it pays for the events, for one measure
        self.as_feeder[number] = model.currency.level_feed(rate, one)[0]  # what those pay that it feeds
        self.finals[number] = self.pricing.finals(tree) if tree else 0.0
        return number

    def _grow(self, size: int) -> None:
        before = len(self.rates)
        self.rates, self.finals, self.as_root, self.as_feeder = (
            np.concatenate([column, np.zeros(size - before)])
            for column in (self.rates, self.finals, self.as_root, self.as_feeder)
        )
        contains = np.full((size, size), UNKNOWN, dtype=np.int8)
        contains[:before, :before] = self._contains
        self._contains = contains


class Cascades:
    """Finds the feeds of forests, and prices them."""

    def __init__(self, pricing: Pricing) -> None:
        self.pricing, self.units = pricing, pricing.units
        self.space, self.everything = pricing.units.problem.space, pricing.units.problem.everything
        self._tables = [TreeTable(pricing)]
        self._costs: dict[tuple[int, ...], float] = {}

    def cost(self, forest: Sequence[int]) -> float:
        """Return what a forest costs with its best feeds, remembered."""
        key = tuple(sorted(forest))
        if key not in self._costs:
            self._costs[key] = self._cheapest(key)[0]
        return self._costs[key]

    def feed(self, forest: Sequence[int]) -> Cascade:
        """Return the better of the forest alone and the forest under a root that has all edges and answers no query."""
        table = self._table()
        _, numbers, feeds = self._cheapest(tuple(forest))
        return Cascade(
            tuple(table.trees[number] for number in numbers.tolist()),
            tuple(table.edges[number] for number in numbers.tolist()),
            tuple(feeds.tolist()),
        )

    def price(self, cascade: Cascade) -> float:
        """Return every tree's feed, once per measure it holds, and its finals."""
        counts = [measures.bit_count() for measures in self.carried(cascade)]
        rates = list(map(self.space.rate_float, cascade.edges))
        model = self.pricing.model
        fed = model.currency.feeds_of_forest(model.rate, rates, counts, cascade.feeds)
        return fed + sum(self.pricing.finals(tree) for tree in sorted(cascade.trees) if tree)

    def carried(self, cascade: Cascade) -> list[int]:
        """Return the measures that every tree of a cascade holds, as masks."""
        return carried_measures([self.units.measures_of(tree) for tree in cascade.trees], cascade.feeds)

    def _cheapest(self, forest: tuple[int, ...]) -> tuple[float, IntArray, IntArray]:
        table = self._table()
        alone = np.array([table.number_of(tree) for tree in forest], dtype=np.int64)
        choices = [alone]
        if not (table.rates[alone] >= table.rates[0] * (1 - EPSILON)).any():
            choices.append(np.append(alone, 0))
        return min((self._choose_feeds(table, numbers) for numbers in choices), key=lambda choice: choice[0])

    def _choose_feeds(self, table: TreeTable, numbers: IntArray) -> tuple[float, IntArray, IntArray]:
        """Let every tree read what is cheapest: the raw events, or a tree whose edges contain its own."""
        as_root = table.as_root[numbers]
        reads = np.where(table.containment(numbers), table.as_feeder[numbers][:, None], np.inf)
        feeders = reads.argmin(axis=0)
        least = reads[feeders, np.arange(len(numbers))]
        feeds = np.where(least < as_root, feeders, RAW)
        measures = [table.measures[number] for number in numbers.tolist()]
        if len(self.units.problem.measures) == 1:
            fed = float(np.minimum(least, as_root).sum())
        else:
            carried = carried_measures(measures, tuple(feeds.tolist()))
            model, counts = self.pricing.model, [mask.bit_count() for mask in carried]
            fed = model.currency.feeds_of_forest(model.rate, table.rates[numbers].tolist(), counts, feeds.tolist())
        return fed + float(table.finals[numbers].sum()), numbers, feeds

    def _table(self) -> TreeTable:
        """Return the table of remembered costs, emptied when it has grown large."""
        if len(self._tables[0].trees) > MOST_REMEMBERED:
            self._tables[0] = TreeTable(self.pricing)
        return self._tables[0]


def as_draft(cascade: Cascade, units: Units) -> Draft:
    """Return a cascade as a draft, its trees without queries last."""
    places = range(len(cascade.trees))
    order = sorted(places, key=lambda place: not cascade.trees[place])
    number = {place: at for at, place in enumerate(order)} | {RAW: RAW}
    forest = [cascade.trees[place] for place in order if cascade.trees[place]]
    masks = [cascade.edges[place] for place in order if not cascade.trees[place]]
    free = list(map(units.problem.space.edges, masks))
    return Draft.of_forest(units, forest, [number[cascade.feeds[place]] for place in order], free, masks)


class Helper(NamedTuple):
    """A tree that answers no query: what it saves, its edges, and which children of its feeder it feeds."""

    gain: float
    edges: int
    fed: tuple[int, ...]


NO_HELPER = Helper(0.0, 0, ())


def add_helpers(cascade: Cascade, cascades: Cascades) -> Cascade:
    """Return the cascade with every helper that pays, the best of them first."""
    scale = EPSILON * cascades.price(cascade)
    best = {feeder: _best_helper(cascade, cascades, feeder) for feeder in sorted(set(cascade.feeds) - {RAW})}
    while best and len(cascade.trees) <= MOST_TREES:
        feeder = max(best, key=lambda place: best[place].gain)
        gain, edges, fed = best[feeder]
        if gain <= scale:
            break
        helper = len(cascade.trees)
        feeds = [helper if tree in fed else feed for tree, feed in enumerate(cascade.feeds)]
        cascade = Cascade((*cascade.trees, 0), (*cascade.edges, edges), (*feeds, feeder))
        for changed in (feeder, helper):  # nobody else has other children now
            best[changed] = _best_helper(cascade, cascades, changed)
    return cascade


def _best_helper(cascade: Cascade, cascades: Cascades, feeder: int) -> Helper:
    """Return the helper that saves most of those with the edges of two trees that read of one feeder.

    A helper also feeds the siblings whose edges it has. What it saves is local: they read fewer partials, and it reads
    of their feeder what any of them needs.
    """
    space, carried = cascades.space, cascades.carried(cascade)
    level_feed = cascades.pricing.model.currency.level_feed
    children = [tree for tree, feed in enumerate(cascade.feeds) if feed == feeder]
    if len(children) > MOST_CHILDREN:
        return NO_HELPER
    feeder_rate, best = space.rate_float(cascade.edges[feeder]), NO_HELPER
    for one, other in combinations(children, 2):
        edges = cascade.edges[one] | cascade.edges[other]
        rate = space.rate_float(edges)
        if rate >= feeder_rate:
            continue
        fed = [child for child in children if space.contains(edges, cascade.edges[child])]
        needed = 0
        for child in fed:
            needed |= carried[child]
        counts = np.array([needed.bit_count(), *(carried[child].bit_count() for child in fed)], dtype=np.float64)
        reads = np.array([feeder_rate, *(len(fed) * [rate])])
        gain = float(level_feed(np.full(len(fed), feeder_rate), counts[1:]).sum() - level_feed(reads, counts).sum())
        if gain > best.gain:
            best = Helper(gain, edges, tuple(fed))
    return best
