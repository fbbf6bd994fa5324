"""Beyond the budget: some edges are counted, the rest estimated from samples, between bounds that always hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import lcm
from random import Random

from optimizer.windows.atoms import Atoms
from optimizer.windows.counters.prime_recursion import BudgetError, Recursion
from optimizer.windows.edges import Edges, Progression, all_progressions, drop_contained, intersection

SAMPLES = 2000
MOST_PAIRED = 300
MOST_ATOMS = 8192
UNIT = 1 << 96  # what weights are counted in, so that they are whole numbers
RANDOM_BITS = 256  # few progressions at a time have a longer period, so that their meetings come out even


@dataclass(frozen=True)
class Estimate:
    """An edge rate that is not known exactly: low <= rate <= high is certain."""

    rate: Fraction
    low: Fraction
    high: Fraction


def estimate(edges: Edges, budget: int) -> Estimate:
    """Count the densest progressions exactly, as many as the budget allows; sample what the others add."""
    ordered = drop_contained(edges)
    counted, exact = _counted(ordered, budget)
    others = ordered[counted:]
    low = max(exact, _least(ordered)) if len(ordered) <= MOST_PAIRED else exact
    high = min(Fraction(1), exact + sum(_most_added(other, ordered[:counted]) for other in others))
    middle = exact + _sampled(ordered[:counted], others)
    return Estimate(min(max(middle, low), high), low, high)


def _counted(ordered: Sequence[Progression], budget: int) -> tuple[int, Fraction]:
    """How many progressions, from the densest on, could be counted, and their rate."""
    many = len(ordered)
    while many > 1:
        try:
            return many, 1 - Recursion(Fraction(1)).missed(tuple(ordered[:many]), budget)
        except BudgetError:
            many //= 2
    return 1, Fraction(1, ordered[0][0])


def _least(edges: Sequence[Progression]) -> Fraction:
    """All edges less those that any two share: too little as soon as three share one (Bonferroni)."""
    meetings = (intersection(left, right) for left, right in combinations(edges, 2))
    shared = Counter(met[0] for met in meetings if met)
    return _total(Counter(size for size, _ in edges)) - _total(shared)


def _total(periods: Counter[int]) -> Fraction:
    """The sum of all 1 / period, over a common denominator."""
    length = lcm(*periods)
    return Fraction(sum(length // size * count for size, count in periods.items()), length)


def _most_added(other: Progression, counted: Sequence[Progression]) -> Fraction:
    """What a progression adds at most: itself without what it shares with one that is counted already."""
    meetings = (intersection(other, one) for one in counted)
    shared = max((Fraction(1, met[0]) for met in meetings if met), default=Fraction(0))
    return Fraction(1, other[0]) - shared


def _sampled(counted: Sequence[Progression], others: Sequence[Progression]) -> Fraction:
    """What the others add, on average over random edges of theirs; an edge that k of them share counts 1/k."""
    if not others:
        return Fraction(0)
    random = Random(len(others))
    weights = [1 / size for size, _ in others]
    total = 0.0
    for size, residue in random.choices(others, weights, k=SAMPLES):
        tick = residue + size * random.getrandbits(RANDOM_BITS)
        if not any(tick % step == start for step, start in counted):
            total += 1 / sum(tick % step == start for step, start in others)
    return Fraction(total / SAMPLES) * sum(Fraction(1, size) for size, _ in others)


def atoms(classes: Sequence[Edges]) -> Atoms:
    """Random edges as atoms: every progression has its share of them, and an edge that many have weighs less.

    The weight of the atoms that a mask has is an estimate of its rate without bias, and no mask outweighs a larger one.
    """
    random, edges = Random(len(classes)), all_progressions(classes)
    share = max(2, MOST_ATOMS // len(edges))
    ticks = [residue + size * random.getrandbits(RANDOM_BITS) for size, residue in edges for _ in range(share)]
    weights = [UNIT // (share * sum(size for size, residue in edges if tick % size == residue)) for tick in ticks]
    bits = [
        sum(1 << place for place, tick in enumerate(ticks) if any(tick % size == start for size, start in part))
        for part in classes
    ]
    return Atoms(UNIT, bits, len(ticks), weights)
