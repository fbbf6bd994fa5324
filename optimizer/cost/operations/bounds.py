"""How far counted operations can be from Omega, for every technique, and why.

For any tree of Q distinct windows whose longest window has n partials:
low * Omega - below * Q <= counted <= high * Omega + above * Q + logs * log2(1 + n).
Omega is per edge as if every window ended at every edge; those that end more rarely are counted for less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from optimizer.cost.operations import counted, estimated
from optimizer.cost.operations.schedule import schedule
from optimizer.windows.window import Window


@dataclass(frozen=True)
class Bound:
    """The coefficients of a technique's bound."""

    low: float
    below: float
    high: float
    above: float
    logs: float
    reason: str


_STACKS = "an insert, a share of a flip and an answer are one combine each; a window of one partial needs none"

BOUNDS: dict[str, Bound] = {
    "panes": Bound(
        1, 2, 1, 1, 0, "n partials take n - 1 combines; a fragment moves n by less than the partials of a slide"
    ),
    "panes_inv": Bound(1, 0, 1, 0, 0, "what comes in goes out again: exactly two a range and edge"),
    "flat_fat": Bound(
        0, 0, 1, 2, 1, "the path is renewed once for all windows; a window joins about log2(n) subtrees on average"
    ),
    "b_int": Bound(0, 0, 1, 2, 0, "a partial completes less than one interval on average; look-ups as in flat_fat"),
    "flat_fit": Bound(0, 0, 1, 0, 1, "three for one window; windows of several ranges shorten each other's skips late"),
    "two_stacks": Bound(0, 0, 1, 0, 0, _STACKS),
    "daba": Bound(0, 0, 1, 0, 0, "the steps spread what Two-Stacks does, with up to two combines more"),
    "slick_deque_inv": Bound(1, 0, 1, 0, 0, "what comes in goes out again: exactly two a range and edge"),
    "slick_deque_noninv": Bound(
        0,
        0,
        1,
        0,
        1,
        "a node is compared when it comes and when it goes; answers pass the 1 + ln(n) nodes left",
    ),
    "two_stacks_block": Bound(0, 0, 1, 0, 0, _STACKS),
}


def allowed_range(technique: str, windows: Sequence[Window]) -> tuple[float, float]:
    """The least and the most that may be counted for a tree of the windows."""
    bound, omega, plan = BOUNDS[technique], estimated(technique, windows), schedule(windows)
    queries = len(plan.windows)
    most = bound.high * omega + bound.above * queries + bound.logs * log2(1 + plan.most_partials)
    return max(0.0, bound.low * omega - bound.below * queries), most


def within_bound(technique: str, windows: Sequence[Window]) -> bool:
    """Whether the count is where the bound says."""
    least, most = allowed_range(technique, windows)
    return least - 1e-9 <= counted(technique, windows) <= most + 1e-9
