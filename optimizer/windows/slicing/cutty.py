"""Cutty: only the starts of windows are edges; a final may read the open partial (Carbone et al., CIKM 2016)."""

from __future__ import annotations

from optimizer.windows.window import Window


def edges(window: Window) -> set[tuple[int, int]]:
    """Return the starts of the windows.

    >>> edges(Window(7, 3))
    {(3, 0)}
    """
    return {(window.slide, window.offset % window.slide)}


def partials(window: Window) -> int:
    """Return the partials that a final combines, the open one included.

    >>> partials(Window(7, 3))
    3
    """
    return -(-window.range // window.slide)
