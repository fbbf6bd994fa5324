"""Pairs: a slide is cut in two where a window ends (Krishnamurthy et al., SIGMOD 2006), the fewest slices there are."""

from __future__ import annotations

from optimizer.windows.window import Window


def edges(window: Window) -> set[tuple[int, int]]:
    """The starts of the windows and, when the slide does not divide the range, their ends."""
    start, end = window.offset % window.slide, (window.offset + window.fragment) % window.slide
    return {(window.slide, start), (window.slide, end)}


def partials(window: Window) -> int:
    """Partials that a final combines: two a slide and the last fragment, or one a slide without a fragment."""
    slides = window.range // window.slide
    return 2 * slides + 1 if window.fragment else slides
