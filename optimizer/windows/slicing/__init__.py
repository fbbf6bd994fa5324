"""How a stream is cut into slices for one window; `edges` and `partials` of every slicing.

- cutty: Cutty: only the starts of windows are edges; a final may read the open partial (Carbone et al., CIKM 2016).
- pairs: Pairs: a slide is cut in two where a window ends (Krishnamurthy et al., SIGMOD 2006).
- panes: Panes: slices of one size, the greatest common divisor of range and slide (Li et al., SIGMOD Record 2005).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from optimizer.windows.slicing import cutty, pairs, panes
from optimizer.windows.window import Window

PAIRS = "pairs"  # the default: no slicing of disjoint slices has fewer edges
PANES = "panes"
CUTTY = "cutty"


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
