"""Windows, their edges, and how edges are counted."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm

from optimizer.errors import HeddleError
from optimizer.windows.collapse import collapse
from optimizer.windows.edge_space import EdgeSpace
from optimizer.windows.edges import Progressions, progressions, union
from optimizer.windows.recursive_rates import rate_of
from optimizer.windows.window import Window

__all__ = [
    "EdgeSpace",
    "Progressions",
    "Window",
    "collapse",
    "composite_slide",
    "edge_rate",
    "merged_edges",
    "progressions",
    "weaveability",
]


def edge_rate(windows: Iterable[Window], slicing: str = "pairs") -> Fraction:
    """Edges per tick of one tree that holds all the windows; exact within the budget of `EdgeSpace`."""
    return rate_of(frozenset().union(*[progressions(window, slicing) for window in windows]))


def composite_slide(windows: Iterable[Window]) -> int:
    """The least common multiple of all slides: after that, the edges repeat."""
    return lcm(*(window.slide for window in windows))


def merged_edges(windows: Iterable[Window], slicing: str = "pairs") -> list[int]:
    """The edges of one composite slide, in (0, composite slide], as the papers list them."""
    windows = list(windows)
    length = composite_slide(windows)
    found: set[int] = set()
    for size, residue in union(progressions(window, slicing) for window in windows):
        found.update(range(residue or size, length + 1, size))
    return sorted(found)


def weaveability(left: Iterable[Window], right: Iterable[Window]) -> Fraction:
    """Common edges of two trees over all their edges: 1 when weaving is free, near 0 when it doubles the work."""
    edges, others = union(map(progressions, left)), union(map(progressions, right))
    if not edges or not others:
        raise HeddleError("weaveability compares two trees; give each at least one window")
    together = rate_of(edges | others)
    return (rate_of(edges) + rate_of(others) - together) / together
