"""Cascade: a tree reads the raw events or the partials of a tree whose edges strictly contain its own.

C = sum of (feed_i + E_i * Omega_i); a union root that answers no query is a tree whose Omegas are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from optimizer.cost.models.tree_cost import TreeCost

RAW = -1


def cost(rate: float, trees: Sequence[TreeCost], feeds: Sequence[int]) -> float:
    """Operations per tick when tree i is fed by tree feeds[i], or by the raw events where that is RAW."""
    return sum(feed(rate, trees, index, source) + trees[index].finals for index, source in enumerate(feeds))


def feed(rate: float, trees: Sequence[TreeCost], index: int, source: int) -> float:
    """What one tree pays for its input: an operation per event or partial, once per component."""
    return (rate if source == RAW else trees[source].partials) * trees[index].components


def cheapest_feeds(rate: float, trees: Sequence[TreeCost], contains: Callable[[int, int], bool]) -> list[int]:
    """The cheapest source of every tree; `contains(i, j)` says whether the edges of tree i contain those of tree j.

    Of equal sources the raw events come first, then the first tree. A tree can feed another only what it keeps itself:
    it needs the other's components.
    """
    return [_cheapest(rate, trees, index, contains) for index in range(len(trees))]


def _cheapest(rate: float, trees: Sequence[TreeCost], index: int, contains: Callable[[int, int], bool]) -> int:
    best, lowest = RAW, rate
    for source, tree in enumerate(trees):
        fits = tree.edge_rate > trees[index].edge_rate and trees[index].omegas.keys() <= tree.omegas.keys()
        if fits and tree.partials < lowest and contains(source, index):
            best, lowest = source, tree.partials
    return best
