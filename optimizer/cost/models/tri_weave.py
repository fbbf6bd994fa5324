"""TriWeave: one sub-aggregation at the union of all edges, whose partials every tree folds into its own.

C = lambda + sum over trees of (E_all, unless the tree's edges are all edges) + sum of E_i * Omega_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from optimizer.cost.models.tree_cost import TreeCost


def cost(rate: float, trees: Sequence[TreeCost], union_rate: Fraction | float) -> float:
    """Operations per tick at `rate` events per tick; the sub-aggregation keeps every component of the trees."""
    components = {component for tree in trees for component in tree.omegas}
    return rate * len(components) + sum(feed(tree, union_rate) + tree.finals for tree in trees)


def feed(tree: TreeCost, union_rate: Fraction | float) -> float:
    """What a tree pays to read the union's partials; nothing when they are its own slices already."""
    return 0.0 if tree.edge_rate == union_rate else float(union_rate) * tree.keys * tree.components
