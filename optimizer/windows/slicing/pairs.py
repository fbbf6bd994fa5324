"""Pairs: a slide is cut in two where a window ends (Krishnamurthy et al., SIGMOD 2006), the fewest slices there are."""

from __future__ import annotations

from optimizer.windows.window import Window


def edges(window: Window) -> set[tuple[int, int]]:
    """Return the starts of the windows and, when the slide does not divide the range, their ends.

    >>> sorted(edges(Window(7, 3)))
    [(3, 0), (3, 1)]
    """
    start, end = window.offset % window.slide, (window.offset + window.fragment) % window.slide
    return {(window.slide, start), (window.slide, end)}


def partials(window: Window) -> int:
    """Return the partials that a final combines: two a slide and the last fragment, or one a slide without a fragment.

    >>> partials(Window(7, 3))
    5
    """
    slides = window.range // window.slide
    return 2 * slides + 1 if window.fragment else slides
