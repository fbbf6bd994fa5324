"""What a search moves about, a unit: a class of equal edges, or a single window; what each unit asks for and costs.

The cost model of a search has a look-up for every set of units that it has seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from optimizer.cost.omega import TreeLoads, least_omegas
from optimizer.cost.tree_cost import OPERATIONS, Currency, finals
from optimizer.strategies.contract.problem import Problem
from optimizer.windows.window import FloatArray, IntArray

LONG = 512  # bits; the ones of longer masks are found by numpy
SNAP = 1 - 1e-9  # P counts as whole when it is this near, as snap_to_whole() in cost/omega.py does
EPSILON = 1e-12  # of two costs that differ by less, relatively, neither is smaller


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the ones of a mask, ascending."""
    if mask.bit_length() > LONG:
        octets = np.frombuffer(mask.to_bytes((mask.bit_length() + 7) // 8, "little"), dtype=np.uint8)
        yield from np.flatnonzero(np.unpackbits(octets, bitorder="little")).tolist()
        return
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


@dataclass(frozen=True, eq=False)
class Profile:
    """What every unit asks of one measure: its windows (Q), the sum of their overlaps, the longest and all ranges."""

    queries: FloatArray
    overlap: FloatArray
    longest: FloatArray
    ranges: IntArray  # of every asking window, sorted by (unit, range)
    bounds: IntArray  # unit u has ranges[bounds[u]:bounds[u + 1]]

    def ranges_of(self, unit: int) -> IntArray:
        """Return the ranges of a unit's windows, ascending."""
        return self.ranges[self.bounds[unit] : self.bounds[unit + 1]]

    @cached_property
    def fat(self) -> FatSums:
        """FlatFAT's sums over the ranges of every unit."""
        return FatSums(self.ranges, self.bounds)

    @cached_property
    def owners(self) -> tuple[IntArray, IntArray]:
        """For up to 63 units: the sets of units that have ranges in common, as masks, and how many ranges each."""
        _, ids = np.unique(self.ranges, return_inverse=True)
        owners = np.zeros(int(ids.max(initial=-1)) + 1, dtype=np.int64)
        np.bitwise_or.at(owners, ids, np.repeat(1 << np.arange(len(self.queries)), np.diff(self.bounds)))
        return np.unique(owners, return_counts=True)

    def distinct_ranges(self, units: list[int]) -> int:
        """Return how many ranges some units have together."""
        if len(self.queries) > 63:
            return len(np.unique(np.concatenate([self.ranges_of(unit) for unit in units])))
        owners, counts = self.owners
        return int(counts[(owners & sum(1 << unit for unit in units)) != 0].sum())


@dataclass(frozen=True, eq=False)
class Units:
    """The units of a problem; sets of units are masks, as sets of classes are."""

    problem: Problem
    unit_of: IntArray  # per window, ascending
    class_of: IntArray  # per unit

    @classmethod
    def classes(cls, problem: Problem) -> Units:
        """Return one unit per class of equal edges."""
        return cls(problem, problem.class_of, np.arange(len(problem.classes)))

    @classmethod
    def windows(cls, problem: Problem) -> Units:
        """Return one unit per distinct window."""
        return cls(problem, np.arange(len(problem.windows)), problem.class_of)

    def __len__(self) -> int:
        return len(self.class_of)

    @property
    def everything(self) -> int:
        """The mask of all units."""
        return (1 << len(self)) - 1

    @cached_property
    def profiles(self) -> tuple[Profile, ...]:
        """One profile per measure."""
        return tuple(self._profile(k) for k in range(len(self.problem.measures)))

    @cached_property
    def _measures(self) -> list[int]:
        """Per unit, the measures it asks for, as a mask."""
        masks = [0] * len(self)  # Python's integers: there may be more measures than bits in a word
        for measure, profile in enumerate(self.profiles):
            for unit in np.flatnonzero(profile.queries > 0).tolist():
                masks[unit] |= 1 << measure
        return masks

    def measures_of(self, mask: int) -> int:
        """Return the measures that some units ask for, as a mask."""
        measures = 0
        for unit in bits(mask):
            measures |= self._measures[unit]
        return measures

    def mask_of(self, units: IntArray) -> int:
        """Return the mask of some units."""
        flags = np.zeros(len(self), dtype=np.uint8)
        flags[units] = 1
        return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")

    def edge_mask(self, mask: int) -> int:
        """Return the classes whose edges a set of units has."""
        if len(self) == len(self.problem.classes):
            return mask
        classes = 0
        for unit in bits(mask):
            classes |= 1 << int(self.class_of[unit])
        return classes

    def spread(self, mask: int) -> int:
        """Return the windows of a set of units, as a mask of windows."""
        inside = np.isin(self.unit_of, list(bits(mask)))
        return int.from_bytes(np.packbits(inside, bitorder="little").tobytes(), "little")

    def labels(self, forest: list[int]) -> IntArray:
        """Return the tree of every window, when tree t holds the units of forest[t]."""
        tree_of = np.empty(len(self), dtype=np.int64)
        for tree, mask in enumerate(forest):
            tree_of[list(bits(mask))] = tree
        return tree_of[self.unit_of]

    def _profile(self, measure: int) -> Profile:
        windows, unit_of = self.problem.windows, self.unit_of
        ranges, slides = windows.range, windows.slide
        asking = self.problem.asking[measure]
        if asking is not None:
            ranges, slides, unit_of = ranges[asking], slides[asking], unit_of[asking]
        bounds = np.searchsorted(unit_of, np.arange(len(self) + 1))
        overlap = np.bincount(unit_of, ranges / slides, len(self)).astype(np.float64)
        queries = np.diff(bounds).astype(np.float64)
        longest = np.where(queries > 0, np.append(ranges, 0)[bounds[1:] - 1], 0).astype(np.float64)
        return Profile(queries, overlap, longest, ranges, bounds)


class FatSums:
    """The sum of FlatFAT's f(r * E) over the ranges of some windows, part by part and at any edge rates.

    f is a sum of steps and of lines between powers of two, so a million windows cost some eighty look-ups.
    """

    def __init__(self, ranges: IntArray, bounds: IntArray) -> None:
        """Part p holds ranges[bounds[p]:bounds[p + 1]], ascending."""
        self.ranges, self.bounds = ranges.astype(np.float64), bounds
        self.longest = float(self.ranges.max(initial=1.0))
        self.span = self.longest + 1  # parts laid end to end are ascending as a whole
        self.line = self.ranges + np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)) * self.span
        self.prefix = np.concatenate([[0.0], np.cumsum(self.ranges)])

    @classmethod
    def of(cls, ranges: IntArray | FloatArray) -> FatSums:
        """Return all ranges as one part."""
        return cls(np.sort(ranges), np.array([0, len(ranges)]))

    def at(self, parts: IntArray, rates: FloatArray) -> FloatArray:
        """Return the sum of each part at its own edge rate."""
        if not len(parts):
            return np.zeros(0)
        levels = np.exp2(np.arange(max(2, int(np.log2(max(1.0, self.longest * rates.max()))) + 2)))
        ends = self.bounds[parts + 1]
        steps = ends[:, None] - self._below(levels[1:] + 1, parts, rates)
        cuts = np.concatenate([self._below(levels, parts, rates), ends[:, None]], axis=1)
        lines = np.diff(self.prefix[cuts], axis=1) * rates[:, None] - np.diff(cuts, axis=1)
        total: FloatArray = steps.sum(axis=1) + (lines / levels).sum(axis=1)
        return total

    def _below(self, partials: FloatArray, parts: IntArray, rates: FloatArray) -> IntArray:
        """Return where in the line the ranges of a part begin that hold at least this many partials."""
        thresholds = np.minimum(partials[None, :] / rates[:, None] * SNAP, self.span)
        places: IntArray = np.searchsorted(self.line, thresholds + parts[:, None] * self.span)
        return places


@dataclass(frozen=True)
class CostModel:
    """Events per tick, and per measure the techniques that may answer it.

    With group-by all but reading events is done for every key active in a slice, so searches count per key: of the
    events, only a key's share.
    """

    rate: float
    techniques: tuple[tuple[str, ...], ...]
    currency: Currency = field(default=OPERATIONS, repr=False)

    def least_omegas(self, measure: int, trees: TreeLoads, rates: FloatArray) -> FloatArray:
        """Return what the techniques that may answer a measure cost per slice of every tree, each by its cheapest."""
        return least_omegas(self.techniques[measure], trees, rates, self.currency.final)

    def finals(self, rates: FloatArray, omegas: FloatArray) -> FloatArray:
        """Return what trees pay per tick for their answers."""
        return finals(self.currency.slices(rates), omegas)

    def root_feed(self, rates: FloatArray, measures: FloatArray) -> FloatArray:
        """Return what trees pay per tick to read the raw events."""
        return self.currency.root_feed(self.rate, rates, measures)


class OneTree:
    """One set of units as the formulas of Omega see it, for one measure."""

    def __init__(self, profile: Profile, units: list[int]) -> None:
        self.profile, self.units = profile, units
        self.queries = np.array([profile.queries[units].sum()])
        self.overlap = np.array([profile.overlap[units].sum()])
        self.longest = np.array([profile.longest[units].max()])

    def distinct_ranges(self) -> FloatArray:
        return np.array([self.profile.distinct_ranges(self.units)], dtype=np.float64)

    def flat_fat_sums(self, rates: FloatArray) -> FloatArray:
        sums = self.profile.fat.at(np.array(self.units), np.full(len(self.units), rates[0]))
        return np.array([sums.sum()])


class Pricing:
    """Prices sets of units. Every price is remembered: the papers' cost lookup."""

    def __init__(self, units: Units, model: CostModel) -> None:
        self.units, self.model = units, model
        self._parts: dict[int, tuple[float, int]] = {}
        self._trees: dict[int, float] = {0: 0.0}

    def rate(self, mask: int) -> float:
        """Return the edge rate of a set of units."""
        return self.rate_of_classes(self.units.edge_mask(mask))

    def rate_of_classes(self, mask: int) -> float:
        """Return the edge rate of a set of classes."""
        return self.units.problem.space.rate_float(mask)

    def measures(self, mask: int) -> int:
        """Return how many measures a tree of these units serves; it is fed once for each."""
        return self._price_parts(mask)[1]

    def finals(self, mask: int) -> float:
        """Final operations per tick of a tree of these units, each measure by its cheapest technique."""
        return self._price_parts(mask)[0]

    def tree(self, mask: int) -> float:
        """Return what a tree of these units costs."""
        if mask not in self._trees:
            finals, served = self._price_parts(mask)
            self._trees[mask] = float(self.feeds(np.array(self.rate(mask)), np.array(served))) + finals
        return self._trees[mask]

    def feeds(self, rates: FloatArray, served: FloatArray) -> FloatArray:
        """Return what trees with these edge rates pay to be fed for so many measures: by raw events in WeaveShare."""
        return self.model.root_feed(rates, served)

    def forest(self, masks: Iterable[int]) -> float:
        """Return what trees cost together."""
        return sum(map(self.tree, sorted(masks)))

    def _price_parts(self, mask: int) -> tuple[float, int]:
        if mask not in self._parts:
            self._parts[mask] = self._price(mask)
        return self._parts[mask]

    def _price(self, mask: int) -> tuple[float, int]:
        """Return the finals of a tree of these units, and how many measures it serves."""
        rates, members = np.array([self.rate(mask)]), list(bits(mask))
        total, measures = 0.0, list(bits(self.units.measures_of(mask)))
        for measure in measures:
            tree = OneTree(self.units.profiles[measure], members)
            total += float(self.model.least_omegas(measure, tree, rates)[0])
        return float(self.model.finals(rates, np.array([total]))[0]), len(measures)
