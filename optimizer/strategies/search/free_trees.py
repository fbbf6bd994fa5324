"""Trees that answer no query, added to a cascade where several trees read of one that has far more edges."""

from __future__ import annotations

from itertools import combinations

from optimizer.cost.tree_cost import RAW
from optimizer.strategies.contract.pricing import EPSILON
from optimizer.strategies.search.feeds import Cascade, Cascades

MOST_CHILDREN = 40  # of one feeder; of more, no pairs are tried
MOST_TREES = 120  # of more, no helpers are


def with_helpers(cascade: Cascade, cascades: Cascades) -> Cascade:
    """The cascade with every helper that pays; a helper has the edges of two trees with one feeder."""
    cost = cascades.price(cascade)
    while len(cascade.trees) <= MOST_TREES:
        choices = [_helped(cascade, cascades, *pair) for pair in _siblings(cascade)]
        best = min(choices, key=cascades.price, default=cascade)
        if cascades.price(best) >= cost * (1 - EPSILON):
            break
        cascade, cost = best, cascades.price(best)
    return cascade


def _siblings(cascade: Cascade) -> list[tuple[int, int]]:
    """Trees that read of the same tree, in pairs."""
    pairs = []
    for feeder in sorted(set(cascade.feeds) - {RAW}):
        children = [tree for tree, feed in enumerate(cascade.feeds) if feed == feeder]
        if len(children) <= MOST_CHILDREN:
            pairs += list(combinations(children, 2))
    return pairs


def _helped(cascade: Cascade, cascades: Cascades, one: int, other: int) -> Cascade:
    """The cascade with a helper for two trees, which also feeds the siblings whose edges it has."""
    feeder, edges = cascade.feeds[one], cascade.edges[one] | cascade.edges[other]
    helper = len(cascade.trees)
    feeds = [
        helper if feed == feeder and cascades.contains(edges, cascade.edges[tree]) else feed
        for tree, feed in enumerate(cascade.feeds)
    ]
    return Cascade((*cascade.trees, 0), (*cascade.edges, edges), (*feeds, feeder))
