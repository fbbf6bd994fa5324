"""What a tree costs per tick: its feed, and its finals. The one home of these formulas.

    C = sum over trees of (feed_i + E_i * Omega_i)

The cost models of the papers differ in what a tree reads. WeaveShare: every tree reads the raw events. TriWeave: every
tree reads the partials of one tree that has all edges. Cascade: a tree reads the raw events, or the partials of a tree
whose edges contain its own. A tree that answers no query has no finals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

import numpy as np

from optimizer.windows.window import FloatArray

RAW = -1  # the feed of a tree that reads the raw events, where trees are fed by number
Number = TypeVar("Number", float, FloatArray)


def partials(edge_rate: Fraction | float, keys: float = 1.0) -> float:
    """Return the slices that a tree closes per tick, one for every active key: what a tree that it feeds reads.

    >>> partials(0.5, keys=50)
    25.0
    """
    return float(edge_rate) * keys


def feed(reads: float | Number, measures: Number) -> Number:
    """Return what a tree pays per tick for its input: an operation per event or partial that it reads and measure.

    >>> feed(1.2, 2)  # 1.2 events a tick, for a sum and a maximum
    2.4
    """
    return reads * measures


def finals(closed: float | Number, omega: Number) -> Number:
    """Return what a tree pays per tick for its answers: Omega, summed over measures, for every slice it closes.

    >>> finals(partials(0.25, keys=50), 6.0)
    75.0
    """
    return closed * omega


@dataclass(frozen=True)
class Currency:
    """What a search counts in: what an event, a slice, a level, a tree and an operation of Omega cost.

    The defaults are the papers': every event or partial that a tree folds is an operation for each measure, and every
    operation of Omega is one. A machine's prices make seconds of the same sums.
    """

    event: float = 0.0  # an event that a tree reads, before any measure
    fold: float = 1.0  # an event folded into one measure
    slice: float = 0.0  # a slice that a tree makes of events, exchanges and retains, for one measure
    level: float = 1.0  # a finer slice folded into a tree that its feeder feeds, for one measure
    tree: float = 0.0  # a tree, per tick
    root: float = 0.0  # beside that, a tree that reads events, per tick
    final: Mapping[str, float] = field(default_factory=dict)  # an operation of Omega, by technique; 1 where not named
    events: float = 0.0  # per tick and key, where slices without an event are not made; 0: all are

    def slices(self, rates: FloatArray) -> FloatArray:
        """Return how many slices per tick hold an event, of so many that end.

        >>> Currency().slices(np.array([2.0])).tolist()
        [2.0]
        >>> Currency(events=1.0).slices(np.array([2.0, 0.01])).round(3).tolist()
        [0.787, 0.01]
        """
        if not self.events:
            return rates
        safe = np.maximum(rates, 1e-300)
        filled: FloatArray = -rates * np.expm1(-self.events / safe)
        return filled

    def root_feed(self, events: float, rates: FloatArray, measures: FloatArray) -> FloatArray:
        """Return what trees pay per tick that read so many raw events and cut them at these edge rates.

        >>> Currency().root_feed(1.2, np.array([0.5]), np.array([2.0])).tolist()
        [2.4]
        >>> Currency(event=1.0, slice=0.5, tree=0.1).root_feed(1.0, np.array([0.5]), np.array([2.0])).tolist()
        [3.6]
        """
        paid: FloatArray = events * self.event + (events * self.fold + self.slices(rates) * self.slice) * measures
        return paid + self.tree + self.root

    def level_feed(self, rates: FloatArray, measures: FloatArray) -> FloatArray:
        """Return what trees pay per tick that read the partials of a feeder with these edge rates.

        >>> Currency().level_feed(np.array([0.5]), np.array([2.0])).tolist()
        [1.0]
        """
        paid: FloatArray = self.slices(rates) * self.level * measures + self.tree
        return paid

    def feeds_of_forest(
        self, events: float, rates: Sequence[float], measures: Sequence[int], feeds: Sequence[int]
    ) -> float:
        """Return what all trees pay for their input, when tree i reads tree feeds[i], or the raw events where that is
        RAW; every tree has its edge rate and its number of measures.

        >>> Currency().feeds_of_forest(2.0, [0.5, 0.25], [1, 1], [RAW, 0])  # the events, and the first tree's partials
        2.5
        """
        edge_rates, counts, sources = np.array(rates, float), np.array(measures, float), np.array(feeds, np.int64)
        roots = sources == RAW
        paid = self.root_feed(events, edge_rates[roots], counts[roots]).sum()
        return float(paid + self.level_feed(edge_rates[sources[~roots]], counts[~roots]).sum())


OPERATIONS = Currency()
