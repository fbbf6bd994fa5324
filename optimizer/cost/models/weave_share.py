"""WeaveShare: every tree reads the raw events (CIKM 2011). C = m * lambda + sum of E_i * Omega_i."""

from __future__ import annotations

from collections.abc import Iterable

from optimizer.cost.models.tree_cost import TreeCost


def cost(rate: float, trees: Iterable[TreeCost]) -> float:
    """Operations per tick at `rate` events per tick."""
    return sum(rate * tree.components + tree.finals for tree in trees)
