"""What a cost model reads of a tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True)
class TreeCost:
    """A tree as every cost model sees it. `omegas` has one Omega per component, over the windows that need it."""

    edge_rate: Fraction | float
    omegas: Mapping[str, float] = field(default_factory=dict)  # component -> Omega; all 0 for a tree without queries
    keys: float = 1.0  # mean number of keys active in a slice

    @property
    def components(self) -> int:
        """How many times the tree is fed."""
        return len(self.omegas)

    @property
    def partials(self) -> float:
        """Slices closed per tick, one for every key: what a tree that it feeds reads."""
        return float(self.edge_rate) * self.keys

    @property
    def finals(self) -> float:
        """Final operations per tick: edge rate times Omega, for every key and component."""
        return self.partials * sum(self.omegas.values())
