"""DABA: five operations a query and edge."""

from __future__ import annotations

from optimizer.cost.load import Load, Rate


def omega(load: Load, edge_rate: Rate) -> float:
    """5 Q."""
    return 5.0 * load.queries
