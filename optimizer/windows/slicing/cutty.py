"""Cutty: only the starts of windows are edges; a final may read the open partial (Carbone et al., CIKM 2016)."""

from __future__ import annotations

from optimizer.windows.window import Window


def edges(window: Window) -> set[tuple[int, int]]:
    """The starts of the windows."""
    return {(window.slide, window.offset % window.slide)}


def partials(window: Window) -> int:
    """Partials that a final combines, the open one included."""
    return -(-window.range // window.slide)
