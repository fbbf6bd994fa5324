"""Omega: the estimated operations per edge of a tree, one formula per technique, for many trees at once.

A formula takes what the trees' windows ask for (`TreeLoads`; of one tree, `Load`) and the trees' edge rates, and
returns an array with one Omega per tree. One tree is an array of one: `omega()`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import factorial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from optimizer.algebra.techniques import CARDS, Omega
from optimizer.windows.window import FloatArray, Window

Rate = Fraction | float  # exact in results, a float in searches
# sum of 1/i! for i = 1..n; as a float it does not change any more after 20 terms
INVERSE_FACTORIALS = np.array(tuple(accumulate((1 / factorial(i) for i in range(1, 21)), initial=0.0)))
EULER = 0.5772156649015329
ONE_EACH: Mapping[str, float] = {}  # an operation of Omega costs 1, whatever the technique


@dataclass(frozen=True, eq=False)
class Load:
    """Distinct windows, summed up; merging two loads is right when they have no window in common."""

    queries: int  # Q: distinct (range, slide, offset)
    overlap: float  # sum of range / slide
    ranges: NDArray[np.int64]  # distinct, ascending
    counts: NDArray[np.int64]  # distinct windows of every range

    @staticmethod
    def of(windows: Iterable[Window]) -> Load:
        """Return the load of windows; repeated ones count once.

        >>> load = Load.of([Window(16, 4), Window(16, 4), Window(8, 4)])
        >>> load.queries, load.overlap, load.ranges.tolist()
        (2, 6.0, [8, 16])
        """
        distinct = sorted(set(windows))
        columns = np.array([(w.range, w.slide) for w in distinct], dtype=np.int64).reshape(-1, 2)
        return Load.of_columns(columns[:, 0], columns[:, 1])

    @staticmethod
    def of_columns(ranges: NDArray[np.int64], slides: NDArray[np.int64]) -> Load:
        """Return the load of windows given as columns, distinct already.

        >>> Load.of_columns(np.array([16, 8]), np.array([4, 4])).overlap
        6.0
        """
        distinct, counts = np.unique(ranges, return_counts=True)
        return Load(len(ranges), float((ranges / slides).sum()), distinct, counts.astype(np.int64))

    def merge(self, other: Load) -> Load:
        """Return the load of two sets of windows together.

        >>> load = Load.of([Window(16, 4)]).merge(Load.of([Window(16, 8)]))
        >>> load.queries, load.overlap, load.ranges.tolist(), load.counts.tolist()
        (2, 6.0, [16], [2])
        """
        ranges, index = np.unique(np.concatenate([self.ranges, other.ranges]), return_inverse=True)
        counts = np.bincount(index, np.concatenate([self.counts, other.counts]), len(ranges)).astype(np.int64)
        return Load(self.queries + other.queries, self.overlap + other.overlap, ranges, counts)

    @property
    def distinct_ranges(self) -> int:
        """How many ranges there are; invertible techniques keep one accumulator each.

        >>> Load.of([Window(16, 4), Window(16, 8), Window(8, 4)]).distinct_ranges
        2
        """
        return len(self.ranges)

    @property
    def max_range(self) -> int:
        """The longest range.

        >>> Load.of([Window(16, 4), Window(8, 4)]).max_range
        16
        """
        return int(self.ranges[-1]) if len(self.ranges) else 0


class TreeLoads(Protocol):
    """What the windows of several trees ask for, one tree per position: all that any Omega needs to know."""

    @property
    def queries(self) -> FloatArray:
        """Q: how many distinct windows every tree has."""

    @property
    def overlap(self) -> FloatArray:
        """The sum of range / slide over every tree's windows."""

    @property
    def longest(self) -> FloatArray:
        """The longest range of every tree."""

    def distinct_ranges(self) -> FloatArray:
        """Return how many different ranges every tree has."""

    def flat_fat_sums(self, edge_rates: FloatArray) -> FloatArray:
        """Return the sum of FlatFAT's f(range * edge rate) over every tree's windows."""


Formula = Callable[[TreeLoads, FloatArray], FloatArray]


class OneLoad:
    """The load of one tree, as arrays of one."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.queries = np.array([float(load.queries)])
        self.overlap = np.array([load.overlap])
        self.longest = np.array([float(load.max_range)])

    def distinct_ranges(self) -> FloatArray:
        """Return the number of ranges, in an array of one.

        >>> OneLoad(Load.of_columns(np.array([16, 8]), np.array([4, 4]))).distinct_ranges().tolist()
        [2.0]
        """
        return np.array([float(self.load.distinct_ranges)])

    def flat_fat_sums(self, edge_rates: FloatArray) -> FloatArray:
        """Return the sum of f over the windows, in an array of one.

        >>> OneLoad(Load.of_columns(np.array([16, 8]), np.array([4, 4]))).flat_fat_sums(np.array([0.25])).tolist()
        [2.25]
        """
        partials = self.load.ranges.astype(np.float64) * edge_rates[0]
        return np.array([self.load.counts @ flat_fat_operations(snap_to_whole(partials))])


def omega(technique: str, load: Load, edge_rate: Rate) -> float:
    """Return the operations per edge that a technique needs for one tree.

    >>> from optimizer.windows.window import Window
    >>> load = Load.of([Window(16, 4), Window(8, 4)])
    >>> omega("panes", load, 0.25), omega("two_stacks", load, 0.25), omega("slick_deque_inv", load, 0.25)
    (6.0, 6.0, 4.0)
    """
    return float(OMEGA[technique](OneLoad(load), np.array([float(edge_rate)]))[0])


def least_omegas(
    techniques: Sequence[str], trees: TreeLoads, edge_rates: FloatArray, prices: Mapping[str, float] = ONE_EACH
) -> FloatArray:
    """Return what every tree pays per slice by the technique that is cheapest for it; `prices` are an operation's.

    >>> tree = OneLoad(Load.of_columns(np.array([16, 8]), np.array([4, 4])))
    >>> least_omegas(["panes", "slick_deque_inv"], tree, np.array([0.25]), {"slick_deque_inv": 2.0}).tolist()
    [6.0]
    """
    omegas = [OMEGA[name](trees, edge_rates) * prices.get(name, 1.0) for name in techniques]
    return omegas[0] if len(omegas) == 1 else np.minimum.reduce(omegas)


def least_omega(
    techniques: Sequence[str], load: Load, edge_rate: Rate, prices: Mapping[str, float] = ONE_EACH
) -> float:
    """Return the Omega of one tree by its cheapest technique.

    >>> from optimizer.windows.window import Window
    >>> least_omega(["panes", "slick_deque_inv"], Load.of([Window(16, 4), Window(8, 4)]), 0.25)
    4.0
    """
    return float(least_omegas(techniques, OneLoad(load), np.array([float(edge_rate)]), prices)[0])


def cheapest_technique(
    techniques: Sequence[str], load: Load, edge_rate: Rate, prices: Mapping[str, float] = ONE_EACH
) -> str:
    """Return the first technique that no other undercuts by more than rounding.

    >>> from optimizer.windows.window import Window
    >>> cheapest_technique(["panes", "two_stacks"], Load.of([Window(16, 4), Window(8, 4)]), 0.25)
    'panes'
    """
    least = least_omega(techniques, load, edge_rate, prices)
    costs = ((name, omega(name, load, edge_rate) * prices.get(name, 1.0)) for name in techniques)
    return next(name for name, cost in costs if cost <= least * (1 + 1e-12))


def overlap_factors(trees: TreeLoads, edge_rates: FloatArray) -> FloatArray:
    """Return the summed overlap factors: Panes combines all the slides of every window.

    >>> overlap_factors(OneLoad(Load.of_columns(np.array([16, 8]), np.array([4, 4]))), np.array([0.25])).tolist()
    [6.0]
    """
    return trees.overlap


def three_per_query(trees: TreeLoads, edge_rates: FloatArray) -> FloatArray:
    """Return 3 Q: FlatFIT amortized; in Two-Stacks an insert, a share of a flip and an answer for every query.

    >>> three_per_query(OneLoad(Load.of_columns(np.array([16, 8]), np.array([4, 4]))), np.array([0.25])).tolist()
    [6.0]
    """
    return 3.0 * trees.queries


def five_per_query(trees: TreeLoads, edge_rates: FloatArray) -> FloatArray:
    """Return 5 Q: DABA.

    >>> five_per_query(OneLoad(Load.of_columns(np.array([16, 8]), np.array([4, 4]))), np.array([0.25])).tolist()
    [10.0]
    """
    return 5.0 * trees.queries


def two_per_range(trees: TreeLoads, edge_rates: FloatArray) -> FloatArray:
    """Return two per distinct range: an inverse adds the newest partial and takes the oldest off.

    >>> two_per_range(OneLoad(Load.of_columns(np.array([16, 16]), np.array([4, 8]))), np.array([0.25])).tolist()
    [2.0]
    """
    return 2.0 * trees.distinct_ranges()


def shared_deque(trees: TreeLoads, edge_rates: FloatArray) -> FloatArray:
    """Return 2 - 2/Pmax + Q + the sum of 1/i! up to Pmax: one deque shared by all queries, one look-up each.

    >>> tree = OneLoad(Load.of_columns(np.array([16, 8]), np.array([4, 4])))
    >>> shared_deque(tree, np.array([0.25])).round(3).tolist()  # 2 - 2/4 + 2 + 1 + 1/2 + 1/6 + 1/24
    [5.208]
    """
    # Pmax is rounded to a number of terms, and half a partial must round as the exact rate says
    longest = np.maximum(1.0, snap_to_whole(2 * trees.longest * edge_rates) / 2)
    terms = np.minimum(np.rint(longest), len(INVERSE_FACTORIALS) - 1).astype(np.int64)
    operations: FloatArray = 2 - 2 / longest + trees.queries + INVERSE_FACTORIALS[terms]
    return operations


def mean_deque(trees: TreeLoads, edge_rates: FloatArray) -> FloatArray:
    """Return the same with the mean length that a deque of random values really has, the harmonic number H of Pmax.

    The i-th newest of Pmax partials is in the deque when none after it is larger, that is once in i times; equation 7
    of the TKDE paper prints the sum of 1/i! instead, which is 1.72 for any Pmax, where H(1024) is 7.51.

    >>> tree = OneLoad(Load.of_columns(np.array([16, 8]), np.array([4, 4])))
    >>> mean_deque(tree, np.array([0.25])).round(3).tolist()  # 2 - 2/4 + 2 + 1 + 1/2 + 1/3 + 1/4
    [5.583]
    """
    longest = np.maximum(1.0, snap_to_whole(2 * trees.longest * edge_rates) / 2)
    operations: FloatArray = 2 - 2 / longest + trees.queries + harmonic(np.rint(longest))
    return operations


def harmonic(terms: FloatArray) -> FloatArray:
    """Return 1 + 1/2 + ... + 1/n, within 1e-9 of it.

    >>> harmonic(np.array([1.0, 2.0, 1024.0])).round(6).tolist()
    [1.0, 1.5, 7.509176]
    """
    beyond = terms + 4  # the series converges quickly from some terms on
    whole = np.log(beyond) + EULER + 1 / (2 * beyond) - 1 / (12 * beyond**2) + 1 / (120 * beyond**4)
    tail: FloatArray = sum((1 / (terms + k) for k in range(1, 5)), np.zeros_like(terms))
    return whole - tail


def tree_walks(trees: TreeLoads, edge_rates: FloatArray) -> FloatArray:
    """Return the sum of f(P): FlatFAT's path up the tree per update and its walk per look-up; B-Int by estimate.

    >>> tree_walks(OneLoad(Load.of_columns(np.array([16, 8]), np.array([4, 4]))), np.array([0.25])).tolist()
    [2.25]
    """
    return trees.flat_fat_sums(edge_rates)


def flat_fat_operations(partials: FloatArray) -> FloatArray:
    """Return f(P) = max(0, floor(log2(P - 1))) + (P - 1) / 2^floor(log2 P), and 0 up to one partial.

    >>> flat_fat_operations(np.array([0.5, 1.0, 2.0, 3.0, 4.0, 8.0])).tolist()
    [0.0, 0.0, 0.5, 2.0, 1.75, 2.875]
    """
    many = np.maximum(partials, 2.0)
    update = np.floor(np.log2(many - 1))
    lookup = (many - 1) / np.exp2(np.floor(np.log2(many)))
    few = (np.maximum(partials, 1.0) - 1) / 1.0
    return np.where(partials >= 2, update + lookup, few)


def snap_to_whole(partials: FloatArray) -> FloatArray:
    """Return P = range * edge rate with rounding errors undone where P is a whole number: f jumps at powers of two.

    >>> snap_to_whole(np.array([3.9999999999999, 3.99])).tolist()
    [4.0, 3.99]
    """
    whole = np.rint(partials)
    return np.where(np.abs(partials - whole) <= 1e-9 * np.maximum(whole, 1), whole, partials)


FORMULAS: dict[Omega, Formula] = {
    "overlap_factors": overlap_factors,
    "two_per_range": two_per_range,
    "tree_walks": tree_walks,
    "three_per_query": three_per_query,
    "five_per_query": five_per_query,
    "shared_deque": shared_deque,
}
OMEGA: dict[str, Formula] = {name: FORMULAS[card.omega] for name, card in CARDS.items()}
CORRECTED: dict[str, Formula] = {**OMEGA, "slick_deque_noninv": mean_deque}  # beside the papers' own forms


def omega_with_mean_deque(technique: str, load: Load, edge_rate: Rate) -> float:
    """Return what `omega` does, with equation 7 corrected; searches go by the papers' form.

    >>> load = Load.of_columns(np.arange(1, 1025), np.ones(1024, dtype=np.int64))
    >>> [round(formula("slick_deque_noninv", load, 1.0), 2) for formula in (omega, omega_with_mean_deque)]
    [1027.72, 1033.51]
    """
    return float(CORRECTED[technique](OneLoad(load), np.array([float(edge_rate)]))[0])
