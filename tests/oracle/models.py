"""The papers' cost models, written out tree by tree over the product's feed() and finals()."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from optimizer.cost.tree_cost import OPERATIONS, RAW, feed, finals, partials


@dataclass(frozen=True)
class TreeCost:
    """A tree as every cost model sees it. `omegas` has one Omega per component, over the windows that need it."""

    edge_rate: Fraction | float
    omegas: Mapping[str, float] = field(default_factory=dict)  # component -> Omega; all 0 for a tree without queries
    keys: float = 1.0  # mean number of keys active in a slice

    @property
    def partials(self) -> float:
        """Slices closed per tick, one for every key: what a tree that it feeds reads."""
        return partials(self.edge_rate, self.keys)

    @property
    def finals(self) -> float:
        """Final operations per tick: edge rate times Omega, for every key and component."""
        return finals(self.partials, sum(self.omegas.values()))


def weave_share(rate: float, trees: Iterable[TreeCost]) -> float:
    """WeaveShare (CIKM 2011): C = m * lambda + sum of E_i * Omega_i."""
    return sum(feed(rate, len(tree.omegas)) + tree.finals for tree in trees)


def tri_weave(rate: float, trees: Sequence[TreeCost], union_rate: Fraction | float) -> float:
    """TriWeave: C = lambda + sum of E_all over trees whose edges are not all edges + sum of E_i * Omega_i."""
    components = {component for tree in trees for component in tree.omegas}
    reading = [tree for tree in trees if tree.edge_rate != union_rate]
    feeds = sum(feed(partials(union_rate, tree.keys), len(tree.omegas)) for tree in reading)
    return feed(rate, len(components)) + feeds + sum(tree.finals for tree in trees)


def cascade(rate: float, trees: Sequence[TreeCost], feeds: Sequence[int]) -> float:
    """Cascade: tree i is fed by tree feeds[i], or by the raw events where that is RAW."""
    closed, measures = [tree.partials for tree in trees], [len(tree.omegas) for tree in trees]
    return OPERATIONS.feeds_of_forest(rate, closed, measures, feeds) + sum(tree.finals for tree in trees)


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
