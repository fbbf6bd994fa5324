"""What sliding is asked for, checked: a user's mistake becomes one line that says what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from optimizer.algebra.aggregates import AGGREGATES, Aggregate
from optimizer.algebra.techniques import CARDS
from optimizer.errors import HeddleError, did_you_mean
from optimizer.windows.window import Window

Plain = tuple[int, int] | tuple[int, int, int]  # range, slide and, if it has one, offset
Windows = Window | Plain | Sequence[Window | Plain]
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


def known_windows(windows: Windows) -> list[Window]:
    """The windows that were asked for, be it one or several, each as a Window."""
    single = isinstance(windows, Window) or (
        isinstance(windows, tuple) and len(windows) in (2, 3) and not isinstance(windows[0], Window | Sequence)
    )
    try:
        return [_window(window) for window in ([windows] if single else windows)]  # type: ignore[union-attr]
    except TypeError:
        raise _no_window(windows) from None


def _no_window(given: Any) -> HeddleError:
    return HeddleError(f"{given!r} is not a window; give Window(range, slide), or (range, slide) as integers")


def _plain(given: Any) -> Window:
    try:
        range_, slide, *offset = (index(number) for number in given)
        (shift,) = offset or [0]
        return Window(range_, slide, shift)
    except (TypeError, ValueError):
        raise _no_window(given) from None


def _window(given: Any) -> Window:
    window = given if isinstance(given, Window) else _plain(given)
    if window.slide < 1 or window.range < window.slide:
        raise HeddleError(f"range {window.range}, slide {window.slide}: a slide is at least 1 and at most the range")
    return window
