"""How a stream is cut into slices for one window: where slices end, and how many of them the window holds.

Panes are slices of one size, the greatest common divisor of range and slide (Li et al., SIGMOD Record 2005). Pairs
cut a slide in two where a window ends (Krishnamurthy et al., SIGMOD 2006). Cutty has edges at the starts of windows
only, and a final may read the open partial (Carbone et al., CIKM 2016).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

from optimizer.windows.window import Window

PAIRS = "pairs"  # the default: no slicing of disjoint slices has fewer edges
PANES = "panes"
CUTTY = "cutty"


@dataclass(frozen=True)
class Slicing:
    """Where slices end, as (period, residue), and how many of them a window holds."""

    edges: Callable[[Window], set[tuple[int, int]]]
    partials: Callable[[Window], int]


def panes_edges(window: Window) -> set[tuple[int, int]]:
    """Return one progression: every pane ends at an edge.

    >>> panes_edges(Window(6, 4))
    {(2, 0)}
    """
    pane = gcd(window.range, window.slide)
    return {(pane, window.offset % pane)}


def panes_partials(window: Window) -> int:
    """Return the partials that a final combines.

    >>> panes_partials(Window(6, 4))
    3
    """
    return window.range // gcd(window.range, window.slide)


def pairs_edges(window: Window) -> set[tuple[int, int]]:
    """Return the starts of the windows and, when the slide does not divide the range, their ends.

    >>> sorted(pairs_edges(Window(7, 3)))
    [(3, 0), (3, 1)]
    """
    start, end = window.offset % window.slide, (window.offset + window.fragment) % window.slide
    return {(window.slide, start), (window.slide, end)}


def pairs_partials(window: Window) -> int:
    """Return the partials that a final combines: two a slide and the last fragment, or one a slide without a fragment.

    >>> pairs_partials(Window(7, 3))
    5
    """
    slides = window.range // window.slide
    return 2 * slides + 1 if window.fragment else slides


def cutty_edges(window: Window) -> set[tuple[int, int]]:
    """Return the starts of the windows.

    >>> cutty_edges(Window(7, 3))
    {(3, 0)}
    """
    return {(window.slide, window.offset % window.slide)}


def cutty_partials(window: Window) -> int:
    """Return the partials that a final combines, the open one included.

    >>> cutty_partials(Window(7, 3))
    3
    """
    return -(-window.range // window.slide)


SLICINGS: dict[str, Slicing] = {
    PANES: Slicing(panes_edges, panes_partials),
    PAIRS: Slicing(pairs_edges, pairs_partials),
    CUTTY: Slicing(cutty_edges, cutty_partials),
}
