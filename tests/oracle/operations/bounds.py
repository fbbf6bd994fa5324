"""How far counted operations can be from Omega, for every technique, and why.

For any tree of Q distinct windows whose longest window has n partials:
low * Omega - below * Q <= counted <= high * Omega + above * Q + logs * log2(1 + n).
Omega is per edge as if every window ended at every edge; those that end more rarely are counted for less. Where all do,
as in the papers, and hold at least 8 partials each, the count is no less than papers * Omega.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from optimizer.windows.window import Window
from tests.oracle.operations import counted, estimated
from tests.oracle.operations.schedule import schedule


@dataclass(frozen=True)
class Bound:
    """The coefficients of a technique's bound, and the reason for them."""

    reason: str
    papers: float
    low: float = 0.0
    below: float = 0.0
    high: float = 1.0
    above: float = 0.0
    logs: float = 0.0


_EXACT = Bound("what comes in goes out again: exactly two a range and edge", papers=1, low=1)
_STACKS = Bound("an insert, a share of a flip and an answer are one combine each; one partial needs none", papers=0.8)

BOUNDS: dict[str, Bound] = {
    "panes": Bound(
        "n partials take n - 1 combines; a fragment moves n by less than the partials of a slide",
        papers=7 / 8,
        low=1,
        below=2,
        above=1,
    ),
    "panes_inv": _EXACT,
    "flat_fat": Bound(
        "the path is renewed once for all windows; a window joins about log2(n) subtrees on average",
        papers=0.5,
        above=2,
        logs=1,
    ),
    "b_int": Bound(
        "a partial completes less than one interval on average; look-ups as in flat_fat", papers=0.5, above=2
    ),
    "flat_fit": Bound(
        "three for one window, one at least; windows of several ranges shorten each other's skips late",
        papers=1 / 3,
        logs=1,
    ),
    "two_stacks": _STACKS,
    "daba": Bound("the steps spread what Two-Stacks does, with up to two combines more", papers=0.8),
    "slick_deque_inv": _EXACT,
    "slick_deque_noninv": Bound(
        "a node is compared when it comes and when it goes; answers pass the 1 + ln(n) nodes left",
        papers=0.4,
        logs=1,
    ),
    "two_stacks_block": _STACKS,
}


def allowed_range(technique: str, windows: Sequence[Window]) -> tuple[float, float]:
    """The least and the most that may be counted for a tree of the windows."""
    bound, omega, plan = BOUNDS[technique], estimated(technique, windows), schedule(windows)
    queries = len(plan.windows)
    most = bound.high * omega + bound.above * queries + bound.logs * log2(1 + plan.most_partials)
    return max(0.0, bound.low * omega - bound.below * queries), most


def least_in_papers(technique: str, windows: Sequence[Window]) -> float:
    """The least that may be counted for windows of 8 partials or more that all end at every edge."""
    return BOUNDS[technique].papers * estimated(technique, windows)


def within_bound(technique: str, windows: Sequence[Window]) -> bool:
    """Whether the count is where the bound says."""
    least, most = allowed_range(technique, windows)
    return least - 1e-9 <= counted(technique, windows) <= most + 1e-9
