"""Panes: slices of one size, the greatest common divisor of range and slide (Li et al., SIGMOD Record 2005)."""

from __future__ import annotations

from math import gcd

from optimizer.windows.window import Window


def edges(window: Window) -> set[tuple[int, int]]:
    """Return one progression: every pane ends at an edge.

    >>> edges(Window(6, 4))
    {(2, 0)}
    """
    pane = gcd(window.range, window.slide)
    return {(pane, window.offset % pane)}


def partials(window: Window) -> int:
    """Return the partials that a final combines.

    >>> partials(Window(6, 4))
    3
    """
    return window.range // gcd(window.range, window.slide)
