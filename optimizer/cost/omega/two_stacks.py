"""Two-Stacks: an insert, a share of a flip and an answer, for every query."""

from __future__ import annotations

from optimizer.cost.load import Load, Rate


def omega(load: Load, edge_rate: Rate) -> float:
    """3 Q."""
    return 3.0 * load.queries
