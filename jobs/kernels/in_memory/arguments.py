"""The arguments of `sliding`, parsed: a user's mistake becomes one line that says what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from optimizer.algebra.aggregates import AGGREGATES, Aggregate
from optimizer.algebra.techniques import CARDS, DEFAULT_TECHNIQUE
from optimizer.errors import HeddleError, did_you_mean
from optimizer.windows.window import Window

Plain = tuple[int, int] | tuple[int, int, int]  # range, slide and, if it has one, offset
Windows = Window | Plain | Sequence[Window | Plain]
BY_NAME = {alias: aggregate for aggregate in AGGREGATES.values() for alias in (aggregate.name, *aggregate.aliases)}


def parse_kernel(name: str | None) -> str:
    """Return the kernel's name; the default where none is named.

    >>> parse_kernel(None)
    'two_stacks_block'
    """
    if name is None:
        return DEFAULT_TECHNIQUE
    if name not in CARDS:
        right = did_you_mean(name, CARDS, f"kernels: {', '.join(CARDS)}")
        raise HeddleError(f"unknown kernel {name!r}; {right}")
    return name


def parse_aggregate(name: str) -> Aggregate:
    """Return the aggregate of that name, if one column is enough for it.

    >>> parse_aggregate("mean").name
    'avg'
    """
    aggregate = BY_NAME.get(name)
    if aggregate is None:
        right = did_you_mean(name, BY_NAME, f"aggregates: {', '.join(AGGREGATES)}")
        raise HeddleError(f"unknown aggregate {name!r}; {right}")
    if not aggregate.shared:
        raise HeddleError(f"aggregate {aggregate.name} is holistic: it has no partials, so no kernel can slide it")
    if aggregate.arguments > 1:
        right = "use min, max, first or last"
        raise HeddleError(f"aggregate {aggregate.name} takes two columns, and sliding has one; {right}")
    return aggregate


def parse_windows(windows: Windows) -> list[Window]:
    """Return the windows, be it one or several, each as a Window.

    >>> parse_windows((10, 5)), len(parse_windows([(10, 5), Window(60, 10)]))
    ([Window(range=10, slide=5, offset=0, rows=False)], 2)
    """
    single = isinstance(windows, Window) or (
        isinstance(windows, tuple) and len(windows) in (2, 3) and not isinstance(windows[0], Window | Sequence)
    )
    try:
        return [_parse_window(window) for window in ([windows] if single else windows)]  # type: ignore[union-attr]
    except TypeError:
        raise _not_a_window(windows) from None


def _not_a_window(argument: Any) -> HeddleError:
    return HeddleError(f"{argument!r} is not a window; give Window(range, slide), or (range, slide) as integers")


def _from_numbers(argument: Any) -> Window:
    try:
        range_, slide, *offset = (index(number) for number in argument)
        (shift,) = offset or [0]
        return Window(range_, slide, shift)
    except (TypeError, ValueError):
        raise _not_a_window(argument) from None


def _parse_window(argument: Any) -> Window:
    window = argument if isinstance(argument, Window) else _from_numbers(argument)
    if window.slide < 1 or window.range < window.slide:
        raise HeddleError(f"range {window.range}, slide {window.slide}: a slide is at least 1 and at most the range")
    return window
