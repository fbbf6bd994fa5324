"""DABA: five operations a query and slide."""

from __future__ import annotations

from optimizer.cost.load import Load


def omega(load: Load, edge_rate: float) -> float:
    """5 Q."""
    return 5.0 * load.queries
