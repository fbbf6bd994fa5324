"""Windows, their edges, and how edges are counted.

- atoms: Atoms: ticks that the same classes have as edges, counted together; also for all pairs of trees at once.
- edge_space: The edge classes of one catalog, and the edge rate of any set of them.
- edges: Edges as arithmetic progressions, windows of equal edges collapsed into one, and the number theory for it.
- rates: Edge rates by prime recursion, and by bounded estimates from samples once the budget is spent.
- slice_manager: The on-the-fly slice manager: which edge comes next, while queries join and leave (SIGMOD 2006).
- window: A sliding window, windows and query ids as columns, and slices: panes, pairs, cutty.
- counters: The exact counters of edges: equal wherever they apply. Estimates are in rates.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm

from optimizer.errors import HeddleError
from optimizer.windows.edge_space import EdgeSpace
from optimizer.windows.edges import Edges, all_progressions, collapse, progressions, union
from optimizer.windows.rates import rate_of
from optimizer.windows.window import Window

__all__ = [
    "EdgeSpace",
    "Edges",
    "Window",
    "collapse",
    "composite_slide",
    "edge_rate",
    "merged_edges",
    "progressions",
    "weaveability",
]


def edge_rate(windows: Iterable[Window], slicing: str = "pairs") -> Fraction:
    """Return the edges per tick of one tree that holds all the windows; exact within the budget of `EdgeSpace`.

    >>> edge_rate([Window(16, 4), Window(10, 5)])  # 8 of 20 ticks
    Fraction(2, 5)
    """
    return rate_of(all_progressions(progressions(window, slicing) for window in windows))


def composite_slide(windows: Iterable[Window]) -> int:
    """Return the least common multiple of all slides: after that, the edges repeat.

    >>> composite_slide([Window(16, 4), Window(10, 5)])
    20
    """
    return lcm(*(window.slide for window in windows))


def merged_edges(windows: Iterable[Window], slicing: str = "pairs") -> list[int]:
    """Return the edges of one composite slide, in (0, composite slide], as the papers list them.

    >>> merged_edges([Window(16, 4), Window(10, 5)])
    [4, 5, 8, 10, 12, 15, 16, 20]
    """
    windows = list(windows)
    length = composite_slide(windows)
    ticks: set[int] = set()
    for size, residue in union(progressions(window, slicing) for window in windows):
        ticks.update(range(residue or size, length + 1, size))
    return sorted(ticks)


def weaveability(left: Iterable[Window], right: Iterable[Window]) -> Fraction:
    """Return the common edges of two trees over all edges: 1 when weaving is free, near 0 when it doubles the work.

    >>> weaveability([Window(16, 4)], [Window(10, 5)])  # 1 common edge (tick 20) of 8
    Fraction(1, 8)
    """
    edges, others = union(map(progressions, left)), union(map(progressions, right))
    if not edges or not others:
        raise HeddleError("weaveability compares two trees; give each at least one window")
    together = rate_of(union([edges, others]))
    return (rate_of(edges) + rate_of(others) - together) / together
