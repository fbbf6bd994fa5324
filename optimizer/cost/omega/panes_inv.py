"""Panes with an inverse: every distinct range adds the newest partial and takes the oldest off."""

from __future__ import annotations

from optimizer.cost.load import Load, Rate


def omega(load: Load, edge_rate: Rate) -> float:
    """Twice the number of distinct ranges."""
    return 2.0 * load.distinct_ranges
