"""Two-Stacks with one flip per block: a suffix, a prefix and their combine, for every query."""

from __future__ import annotations

from optimizer.cost.load import Load, Rate


def omega(load: Load, edge_rate: Rate) -> float:
    """3 Q."""
    return 3.0 * load.queries
