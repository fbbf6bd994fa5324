"""SlickDeque for selective aggregates: a deque shared by all queries, one look-up each."""

from __future__ import annotations

from itertools import accumulate
from math import factorial

from optimizer.cost.load import Load

# sum of 1/i! for i = 1..n; it does not change any more as a float after 20 terms
INVERSE_FACTORIALS = tuple(accumulate((1 / factorial(i) for i in range(1, 21)), initial=0.0))


def omega(load: Load, edge_rate: float) -> float:
    """2 - 2/Pmax + Q + the sum of 1/i! up to Pmax."""
    longest = max(1.0, load.max_range * float(edge_rate))
    return 2 - 2 / longest + load.queries + INVERSE_FACTORIALS[min(max(1, round(longest)), 20)]
