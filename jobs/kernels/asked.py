"""What sliding is asked for, checked: a user's mistake becomes one line that says what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optimizer.catalog.aggregates import AGGREGATES, Aggregate
from optimizer.catalog.mistakes import did_you_mean
from optimizer.errors import HeddleError
from optimizer.techniques import CARDS
from optimizer.windows.window import Window

Windows = Window | tuple[int, int] | Sequence[Window | tuple[int, int]]
BLOCK = "two_stacks_block"
BY_NAME = {alias: known for known in AGGREGATES.values() for alias in (known.name, *known.aliases)}


def known_kernel(name: str | None) -> str:
    """The kernel's name; the default where none is named."""
    if name is None:
        return BLOCK
    if name not in CARDS:
        right = did_you_mean(name, CARDS, f"kernels: {', '.join(CARDS)}")
        raise HeddleError(f"unknown kernel {name!r}; {right}")
    return name


def known_aggregate(name: str) -> Aggregate:
    """The aggregate of that name, if one column is enough for it."""
    known = BY_NAME.get(name)
    if known is None:
        right = did_you_mean(name, BY_NAME, f"aggregates: {', '.join(AGGREGATES)}")
        raise HeddleError(f"unknown aggregate {name!r}; {right}")
    if not known.shared:
        raise HeddleError(f"aggregate {known.name} is holistic: it has no partials, so no kernel can slide it")
    if known.arguments > 1:
        raise HeddleError(f"aggregate {known.name} takes two columns, and sliding has one; use min, max, first or last")
    return known


def full_windows(windows: Windows, rows: int) -> list[Window]:
    """The windows, each of which fits into the column."""
    single = isinstance(windows, Window) or (
        isinstance(windows, tuple) and len(windows) == 2 and not isinstance(windows[0], Window | tuple)
    )
    return [_window(window, rows) for window in ([windows] if single else windows)]  # type: ignore[union-attr]


def _pair(given: Any) -> Window:
    try:
        range_, slide = given
        return Window(int(range_), int(slide))
    except (TypeError, ValueError):
        raise HeddleError(f"{given!r} is not a window; give Window(range, slide) or a pair of integers") from None


def _window(given: Any, rows: int) -> Window:
    window = given if isinstance(given, Window) else _pair(given)
    if window.slide < 1 or window.range < window.slide:
        raise HeddleError(f"range {window.range}, slide {window.slide}: a slide is at least 1 and at most the range")
    if window.range > rows:
        raise HeddleError(f"range {window.range} is longer than the column, which has {rows} values")
    if window.offset % window.slide + window.range > rows:
        raise HeddleError(f"no full window: the first starts at {window.offset % window.slide} of {rows} values")
    return window
