"""Edge rates by prime recursion, and by bounded estimates once the budget is spent.

Beyond the budget, some edges are counted and the rest estimated from samples, between bounds that always hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, groupby
from math import lcm
from operator import itemgetter
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from optimizer.windows.atoms import Atoms
from optimizer.windows.counters import bit_set, divisor_mask
from optimizer.windows.counters.prime_recursion import BUDGET, BudgetError, Number, Recursion
from optimizer.windows.edges import (
    Edges,
    Progression,
    all_progressions,
    common_step,
    drop_contained,
    intersection,
    rescaled,
)
from optimizer.windows.edges import rescaled as rescale

LEAST_BUDGET = 500
SMALL = 1e-4  # below, 1 - (1 - rate) loses digits that a search compares
SHORT = 1 << 13  # a period that is marked and counted sooner than its slides are factorized
SAMPLES = 2000
MOST_PAIRED = 300
MOST_ATOMS = 4096
MOST_SINGLE = 2048  # progressions that have atoms of their own besides their share
UNIT = 1 << 96  # what sums of 1 / period are counted in, so that they are whole numbers
LAST_TICK = 1 << 62
Ticks = NDArray[np.int64]
Floats = NDArray[np.float64]


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


@dataclass(frozen=True)
class Estimate:
    """An edge rate that is not known exactly: low <= rate <= high is certain."""

    rate: Fraction
    low: Fraction
    high: Fraction


def estimate(edges: Edges, budget: int) -> Estimate:
    """Count the densest progressions exactly, as many as the budget allows; sample what the others add.

    >>> some = estimate(((4, 0), (6, 0)), budget=1)  # two progressions are bounded exactly: 1/4 + 1/6 - 1/12
    >>> some.low, some.high, some.low <= some.rate <= some.high
    (Fraction(1, 3), Fraction(1, 3), True)
    """
    ordered = drop_contained(edges)
    counted, exact = _count_densest(ordered, budget)
    others = ordered[counted:]
    low = max(exact, _least_rate(ordered)) if len(ordered) <= MOST_PAIRED else exact
    high = min(Fraction(1), exact + _most_added(others, ordered[:counted]))
    middle = exact + _sample_others(ordered[:counted], others)
    return Estimate(min(max(middle, low), high), low, high)


def _count_densest(ordered: Sequence[Progression], budget: int) -> tuple[int, Fraction]:
    """Return how many progressions, from the densest on, could be counted, and their rate."""
    many = min(len(ordered), budget)  # a progression takes a visit, at least
    while many > 1:
        try:
            return many, 1 - Recursion(Fraction(1)).missed(tuple(ordered[:many]), budget)
        except BudgetError:
            many //= 2
    return 1, Fraction(1, ordered[0][0])


def _least_rate(edges: Sequence[Progression]) -> Fraction:
    """Return all edges less those that any two share: too little as soon as three share one (Bonferroni)."""
    meetings = (intersection(left, right) for left, right in combinations(edges, 2))
    shared = Counter(meeting[0] for meeting in meetings if meeting)
    return _total(Counter(size for size, _ in edges)) - _total(shared)


def _total(periods: Counter[int]) -> Fraction:
    """Return the sum of all 1 / period, over a common denominator."""
    length = lcm(*periods)
    return Fraction(sum(length // size * count for size, count in periods.items()), length)


def _most_added(others: Sequence[Progression], densest: Sequence[Progression]) -> Fraction:
    """Return what progressions add at most: of few, without what each shares with one of the densest."""
    if len(others) > MOST_PAIRED:
        return Fraction(sum(-(-UNIT // size) for size, _ in others), UNIT)
    return sum((_most_by(other, densest) for other in others), Fraction(0))


def _most_by(other: Progression, densest: Sequence[Progression]) -> Fraction:
    meetings = (intersection(other, one) for one in densest)
    shared = max((Fraction(1, meeting[0]) for meeting in meetings if meeting), default=Fraction(0))
    return Fraction(1, other[0]) - shared


def _sample_others(densest: Sequence[Progression], others: Sequence[Progression]) -> Fraction:
    """Return what the others add, on average over random edges of theirs; an edge that k of them share counts 1/k."""
    if not others:
        return Fraction(0)
    rng = np.random.default_rng(len(others))
    density = np.array([1 / size for size, _ in others])
    places = rng.choice(len(others), SAMPLES, p=density / density.sum())
    ticks = _random_ticks([others[place] for place in places.tolist()], rng)
    is_covered = np.zeros(SAMPLES, dtype=np.bool_)
    for _, at in hits(densest, ticks):
        is_covered[at] = True
    sharing = np.zeros(SAMPLES)
    for _, at in hits(others, ticks):
        sharing[at] += 1
    return Fraction(float((~is_covered / sharing).sum()) / SAMPLES * float(density.sum()))


def sampled_atoms(classes: Sequence[Edges]) -> Atoms:
    """Random edges as atoms: a progression has its share of them by density, and an edge that many have weighs less.

    The weight of the atoms that a mask has is an estimate of its rate without bias, and no mask outweighs a larger one.

    >>> some = sampled_atoms([((4, 0),), ((6, 0),)])
    >>> round(some.count(some.bits_of(0b11)) / some.length, 1)  # about 1/3
    0.3
    """
    edges = all_progressions(classes)
    step, shift = common_step(edges)
    scaled = [rescale(part, step, shift) for part in classes]
    edges = all_progressions(scaled)
    rng = np.random.default_rng(len(classes))
    density = np.array([1 / size for size, _ in edges])
    share = MOST_ATOMS * density / density.sum()
    own = 2.0 if len(edges) <= MOST_SINGLE else 0.0
    counts = (share + own + rng.random(len(edges))).astype(np.int64)  # rounded up or down at random: without bias
    ticks = _random_ticks([edge for edge, count in zip(edges, counts.tolist(), strict=True) for _ in range(count)], rng)
    densities = np.zeros(len(ticks))  # how many atoms a tick like this one gets per unit of rate
    place_of = {edge: place for place, edge in enumerate(edges)}
    atoms_per_rate = (share + own) / density
    bits = [0] * len(classes)
    classes_of: dict[Progression, list[int]] = {}
    for number, part in enumerate(scaled):
        for edge in part:
            classes_of.setdefault(edge, []).append(number)
    for edge, at in hits(edges, ticks):
        densities[at] += atoms_per_rate[place_of[edge]]
        flags = np.zeros(len(ticks), dtype=np.uint8)
        flags[at] = 1
        mask = int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
        for number in classes_of[edge]:
            bits[number] |= mask
    # whole numbers whose sums are exact, whatever their order
    weights = np.rint((1 << 40) / densities).astype(np.int64)
    return Atoms(step << 40, bits, len(ticks), weights.tolist())


def _random_ticks(edges: Sequence[Progression], rng: np.random.Generator) -> Ticks:
    """Return a random tick of each progression."""
    table = np.array(edges, dtype=np.int64).reshape(-1, 2)
    sizes, residues = table[:, 0], table[:, 1]
    return residues + sizes * rng.integers(0, np.maximum(LAST_TICK // sizes - 1, 1))


def hits(edges: Iterable[Progression], ticks: Ticks) -> Iterable[tuple[Progression, Ticks]]:
    """Yield every progression with the places of the ticks that are edges of it; progressions ascend.

    >>> [(edge, places.tolist()) for edge, places in hits([(4, 0), (6, 0)], np.array([0, 4, 6]))]
    [((4, 0), [0, 1]), ((6, 0), [0, 2])]
    """
    for size, progressions in groupby(edges, key=itemgetter(0)):
        rest = ticks - ticks // size * size  # numpy divides by one number quicker than it takes a remainder
        residues = [residue for _, residue in progressions]
        if len(residues) <= 4:
            for residue in residues:
                yield (size, residue), np.flatnonzero(rest == residue)
            continue
        order = np.argsort(rest, kind="stable")
        bounds = np.searchsorted(rest[order], [*residues, *(residue + 1 for residue in residues)])
        for place, residue in enumerate(residues):
            yield (size, residue), order[bounds[place] : bounds[place + len(residues)]]
