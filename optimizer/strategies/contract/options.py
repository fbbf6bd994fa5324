"""What a user may choose about a search beside its strategy: how edges are counted and cut, and factor windows."""

from __future__ import annotations

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
