"""What a tree costs per tick: its feed, and its finals. The one home of these formulas.

    C = sum over trees of (feed_i + E_i * Omega_i)

The cost models of the papers differ in what a tree reads. WeaveShare: every tree reads the raw events. TriWeave: every
tree reads the partials of one tree that has all edges. Cascade: a tree reads the raw events, or the partials of a tree
whose edges contain its own. A tree that answers no query has no finals.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

from optimizer.windows.columns import FloatArray

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


def feeds_of_forest(events: float, closed: Sequence[float], measures: Sequence[int], feeds: Sequence[int]) -> float:
    """Return what all trees pay for their input, when tree i reads tree feeds[i], or the raw events where that is RAW.

    `closed` are the partials per tick of every tree, `measures` says how many measures every tree holds.

    >>> feeds_of_forest(2.0, [0.5, 0.25], [1, 1], [RAW, 0])  # 2 events a tick, and the first tree's partials
    2.5
    """
    reads = (events if source == RAW else closed[source] for source in feeds)
    return sum(feed(read, count) for read, count in zip(reads, measures, strict=True))
