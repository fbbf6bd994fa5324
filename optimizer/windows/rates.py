"""Edge rates by prime recursion, and by bounded estimates once the budget is spent."""

from __future__ import annotations

from fractions import Fraction
from typing import Generic

from optimizer.windows.counters import bit_set, divisor_mask
from optimizer.windows.counters.prime_recursion import BUDGET, BudgetError, Number, Recursion
from optimizer.windows.counters.sampled import Estimate, estimate
from optimizer.windows.edges import Edges, all_progressions, common_step, rescaled

LEAST_BUDGET = 500
SMALL = 1e-4  # below, 1 - (1 - rate) loses digits that a search compares
SHORT = 1 << 13  # a period that is marked and counted sooner than its slides are factorized


def rate_of(edges: Edges) -> Fraction:
    """Return the rate of one edge set, by the counter that is likely to be quickest.

    >>> rate_of(((4, 0), (6, 0)))  # 4 of the 12 ticks 0 to 11: 0, 4, 6 and 8
    Fraction(1, 3)
    """
    if not edges:
        return Fraction(0)
    if divisor_mask.applies(edges):
        return divisor_mask.rate(edges)
    return bit_set.rate(edges) if bit_set.is_period_within(edges, SHORT) else RecursiveRates(BUDGET).rate(edges)


class RecursiveRates:
    """Rates of any edges. Results and searches have a budget each; when it is gone, a result may still try a little."""

    def __init__(self, budget: int) -> None:
        self.exact = True
        self._results = Budgeted(Recursion(Fraction(1)), budget)
        self._searches = Budgeted(Recursion(1.0), budget)
        self._estimates: dict[Edges, Estimate] = {}

    @property
    def searching(self) -> bool:
        """Whether there is budget left for searches.

        >>> RecursiveRates(500).searching
        True
        """
        return self._searches.left > 0

    def rate(self, edges: Edges) -> Fraction:
        """Return the exact rate, or an estimate.

        >>> RecursiveRates(500).rate(((4, 0), (6, 1)))
        Fraction(5, 12)
        """
        if edges not in self._estimates:
            try:
                return self._results.rate(edges, LEAST_BUDGET)
            except BudgetError:
                self.exact = False
                self._estimates[edges] = estimate(edges, LEAST_BUDGET)
        return self._estimates[edges].rate

    def rate_float(self, edges: Edges) -> float | None:
        """Return the rate as a float; None when the budget of searches is spent.

        >>> RecursiveRates(500).rate_float(((4, 0), (8, 1)))
        0.375
        """
        if not edges:
            return 0.0
        try:
            rate = self._searches.rate(edges)
            return rate if rate * common_step(edges)[0] > SMALL else float(self._results.rate(edges))
        except BudgetError:
            return None

    def bounds(self, edges: Edges, rate: Fraction) -> tuple[Fraction, Fraction]:
        """Bounds that always hold: the rate itself when it is exact.

        >>> RecursiveRates(500).bounds(((4, 0),), Fraction(1, 4))
        (Fraction(1, 4), Fraction(1, 4))
        """
        estimated = self._estimates.get(edges)
        return (estimated.low, estimated.high) if estimated else (rate, rate)

    def contains(self, outer: Edges, inner: Edges) -> bool:
        """Return whether `inner` adds no edge to `outer`; when that cannot be counted, no.

        >>> rates = RecursiveRates(500)
        >>> rates.contains(((2, 0),), ((4, 0),)), rates.contains(((4, 0),), ((2, 0),))
        (True, False)
        """
        if all(any(p % q == 0 and r % q == t for q, t in outer) for p, r in inner):
            return True
        try:
            return self._results.rate(all_progressions([outer, inner]), LEAST_BUDGET) == self._results.rate(
                outer, LEAST_BUDGET
            )
        except BudgetError:
            return False


class Budgeted(Generic[Number]):
    """A recursion with a budget for all it is asked."""

    def __init__(self, recursion: Recursion[Number], budget: int) -> None:
        self._recursion: Recursion[Number] = recursion
        self.left = budget

    def rate(self, edges: Edges, least: int = 0) -> Number:
        """Return the rate, counted in the edges' own steps; whatever is left of the budget, `least` may be spent.

        >>> budgeted = Budgeted(Recursion(1.0), 500)
        >>> budgeted.rate(((4, 0), (8, 1))), budgeted.left < 500
        (0.375, True)
        """
        if not edges:
            return self._recursion.zero
        step, shift = common_step(edges)
        allowed = max(self.left, least)
        try:
            return (1 - self._recursion.missed(rescaled(edges, step, shift), allowed)) / step
        finally:
            self.left -= allowed - max(0, self._recursion.left)
