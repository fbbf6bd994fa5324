"""Panes: slices of one size, the greatest common divisor of range and slide (Li et al., SIGMOD Record 2005)."""

from __future__ import annotations

from math import gcd

from optimizer.windows.window import Window


def edges(window: Window) -> set[tuple[int, int]]:
    """One progression: every pane ends at an edge."""
    pane = gcd(window.range, window.slide)
    return {(pane, window.offset % pane)}


def partials(window: Window) -> int:
    """Partials that a final combines."""
    return window.range // gcd(window.range, window.slide)
