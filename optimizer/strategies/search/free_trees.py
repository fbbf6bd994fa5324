"""Trees that answer no query, added to a cascade where several trees read of one that has far more edges."""

from __future__ import annotations

from itertools import combinations

from optimizer.cost.tree_cost import RAW
from optimizer.strategies.contract.pricing import EPSILON
from optimizer.strategies.search.feeds import Cascade, Cascades

MOST_CHILDREN = 40  # of one feeder; of more, no pairs are tried
MOST_TREES = 120  # of more, no helpers are


def with_helpers(found: Cascade, cascades: Cascades) -> Cascade:
    """The cascade with every helper that pays; a helper has the edges of two trees with one feeder."""
    cost = cascades.price(found)
    while len(found.trees) <= MOST_TREES:
        choices = [_helped(found, cascades, *pair) for pair in _siblings(found)]
        best = min(choices, key=cascades.price, default=found)
        if cascades.price(best) >= cost * (1 - EPSILON):
            break
        found, cost = best, cascades.price(best)
    return found


def _siblings(found: Cascade) -> list[tuple[int, int]]:
    """Trees that read of the same tree, in pairs."""
    pairs = []
    for feeder in sorted(set(found.feeds) - {RAW}):
        children = [tree for tree, feed in enumerate(found.feeds) if feed == feeder]
        if len(children) <= MOST_CHILDREN:
            pairs += list(combinations(children, 2))
    return pairs


def _helped(found: Cascade, cascades: Cascades, one: int, other: int) -> Cascade:
    """The cascade with a helper for two trees, which also feeds the siblings whose edges it has."""
    feeder, edges = found.feeds[one], found.edges[one] | found.edges[other]
    helper = len(found.trees)
    feeds = [
        helper if feed == feeder and cascades.contains(edges, found.edges[tree]) else feed
        for tree, feed in enumerate(found.feeds)
    ]
    return Cascade((*found.trees, 0), (*found.edges, edges), (*feeds, feeder))
