"""How a stream is cut into slices for one window; `edges` and `partials` of every slicing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from optimizer.windows.slicing import cutty, pairs, panes
from optimizer.windows.window import Window


@dataclass(frozen=True)
class Slicing:
    """Where slices end, as (period, residue), and how many of them a window holds."""

    edges: Callable[[Window], set[tuple[int, int]]]
    partials: Callable[[Window], int]


SLICINGS: dict[str, Slicing] = {
    "panes": Slicing(panes.edges, panes.partials),
    "pairs": Slicing(pairs.edges, pairs.partials),
    "cutty": Slicing(cutty.edges, cutty.partials),
}
