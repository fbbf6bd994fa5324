"""FlatFAT: one path up the tree per update, one walk per look-up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optimizer.cost.load import Load, Rate


def operations(partials: NDArray[np.float64]) -> NDArray[np.float64]:
    """f(P) = max(0, floor(log2(P - 1))) + (P - 1) / 2^floor(log2 P), and 0 up to one partial."""
    many = np.maximum(partials, 2.0)
    update = np.floor(np.log2(many - 1))
    lookup = (many - 1) / np.exp2(np.floor(np.log2(many)))
    few = (np.maximum(partials, 1.0) - 1) / 1.0
    return np.where(partials >= 2, update + lookup, few)


def snapped(partials: NDArray[np.float64]) -> NDArray[np.float64]:
    """P = r * E with rounding errors undone where P is a whole number: f jumps at powers of two."""
    whole = np.rint(partials)
    return np.where(np.abs(partials - whole) <= 1e-9 * np.maximum(whole, 1), whole, partials)


def omega(load: Load, edge_rate: Rate) -> float:
    """The sum of f(P_i) over distinct windows."""
    return float(load.counts @ operations(snapped(load.ranges.astype(np.float64) * float(edge_rate))))
