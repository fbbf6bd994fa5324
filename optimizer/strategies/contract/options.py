"""What a caller says about a search beside its strategy: its options, and how to follow and stop it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from optimizer.errors import HeddleError, did_you_mean
from optimizer.windows.counters import COUNTERS
from optimizer.windows.slicing import PAIRS, SLICINGS

AUTO = "auto"


@dataclass(frozen=True)
class SearchOptions:
    """The counter of edges (`auto` takes the quickest that fits), the slicing, and whether to invent factor windows.

    >>> SearchOptions(slicing="pains")
    Traceback (most recent call last):
    optimizer.errors.HeddleError: there is no slicing 'pains'; did you mean panes?
    """

    edges: str = AUTO
    slicing: str = PAIRS
    factor_windows: bool = True

    def __post_init__(self) -> None:
        _require("counter of edges", self.edges, [AUTO, *COUNTERS])
        _require("slicing", self.slicing, list(SLICINGS))


def _require(kind: str, name: str, names: list[str]) -> None:
    if name not in names:
        hint = did_you_mean(name, names, f"use one of {', '.join(names)}")
        raise HeddleError(f"there is no {kind} {name!r}; {hint}")


DEFAULT_OPTIONS = SearchOptions()


def _ignore(share: float) -> None:
    pass


class Watch:
    """Told how much of the work is done; asked whether to go on."""

    def __init__(self, progress: Callable[[float], None] = _ignore) -> None:
        self._progress = progress
        self.stopped = False

    def report(self, share: float) -> None:
        """Say which share of the work is done, 0 to 1."""
        self._progress(share)

    def stop(self) -> None:
        """Ask the search to end with what it has."""
        self.stopped = True
