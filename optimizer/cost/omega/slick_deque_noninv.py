"""SlickDeque for selective aggregates: a deque shared by all queries, one look-up each."""

from __future__ import annotations

from itertools import accumulate
from math import factorial

from optimizer.cost.load import Load, Rate

# sum of 1/i! for i = 1..n; it does not change any more as a float after 20 terms
INVERSE_FACTORIALS = tuple(accumulate((1 / factorial(i) for i in range(1, 21)), initial=0.0))


def omega(load: Load, edge_rate: Rate) -> float:
    """2 - 2/Pmax + Q + the sum of 1/i! up to Pmax."""
    longest = max(1, load.max_range * edge_rate)
    return 2 - 2 / float(longest) + load.queries + INVERSE_FACTORIALS[min(round(longest), 20)]
