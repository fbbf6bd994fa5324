"""Panes, naive: every final combines all the slides of its window."""

from __future__ import annotations

from optimizer.cost.load import Load, Rate


def omega(load: Load, edge_rate: Rate) -> float:
    """The overlap factors, summed."""
    return load.overlap
