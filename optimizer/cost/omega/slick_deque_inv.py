"""SlickDeque for invertible aggregates, and panes with an inverse: add one, take one off, for every distinct range."""

from __future__ import annotations

from optimizer.cost.load import Load, Rate


def omega(load: Load, edge_rate: Rate) -> float:
    """Twice the number of distinct ranges."""
    return 2.0 * load.distinct_ranges
