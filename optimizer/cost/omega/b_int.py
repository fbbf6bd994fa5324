"""B-Int: as many combines as FlatFAT, by the papers' estimate."""

from __future__ import annotations

from optimizer.cost.load import Load, Rate
from optimizer.cost.omega import flat_fat


def omega(load: Load, edge_rate: Rate) -> float:
    """The sum of f(P_i) over distinct windows."""
    return flat_fat.omega(load, edge_rate)
