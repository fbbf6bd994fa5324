"""Edge rates by prime recursion, and by bounded estimates once the budget is spent."""

from __future__ import annotations

from fractions import Fraction

from optimizer.windows.counters import bit_set, divisor_mask
from optimizer.windows.counters.prime_recursion import BUDGET, BudgetError, Number, Recursion
from optimizer.windows.counters.sampled import Estimate, estimate
from optimizer.windows.edges import Progressions, period

LEAST_BUDGET = 2_000
SHORT = 1 << 13  # a period that is marked and counted sooner than its slides are factorized


def rate_of(edges: Progressions) -> Fraction:
    """The rate of one edge set, by the counter that is likely to be quickest."""
    if not edges:
        return Fraction(0)
    if divisor_mask.applies(edges):
        return divisor_mask.rate(edges)
    return bit_set.rate(edges) if period(edges) <= SHORT else RecursiveRates(BUDGET).rate(edges)


class RecursiveRates:
    """Rates of any edges. All of them draw on one budget; when it is gone, each may still try a little."""

    def __init__(self, budget: int) -> None:
        self.exact = True
        self._left = budget
        self._fractions = Recursion(Fraction(1))
        self._floats = Recursion(1.0)
        self._estimates: dict[Progressions, Estimate] = {}

    def rate(self, edges: Progressions) -> Fraction:
        """The exact rate, or an estimate."""
        if edges in self._estimates:
            return self._estimates[edges].rate
        try:
            return 1 - self._missed(self._fractions, edges)
        except BudgetError:
            return self._estimate(edges)

    def rate_float(self, edges: Progressions) -> float:
        """The same as a float."""
        if edges in self._estimates:
            return float(self._estimates[edges].rate)
        try:
            return 1.0 - self._missed(self._floats, edges)
        except BudgetError:
            return float(self._estimate(edges))

    def bounds(self, edges: Progressions, rate: Fraction) -> tuple[Fraction, Fraction]:
        """Bounds that always hold: the rate itself when it is exact."""
        known = self._estimates.get(edges)
        return (known.low, known.high) if known else (rate, rate)

    def contains(self, outer: Progressions, inner: Progressions) -> bool:
        """Whether `inner` adds no edge to `outer`; when that cannot be counted, no."""
        if all(any(p % q == 0 and r % q == t for q, t in outer) for p, r in inner):
            return True
        try:
            return self._missed(self._fractions, outer | inner) == self._missed(self._fractions, outer)
        except BudgetError:
            return False

    def _missed(self, recursion: Recursion[Number], edges: Progressions) -> Number:
        allowed = max(self._left, LEAST_BUDGET)
        try:
            return recursion.missed(edges, allowed)
        finally:
            self._left -= allowed - recursion.left

    def _estimate(self, edges: Progressions) -> Fraction:
        self.exact = False
        self._estimates[edges] = estimate(edges, LEAST_BUDGET)
        return self._estimates[edges].rate
