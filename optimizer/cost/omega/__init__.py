"""Omega: the estimated operations per edge of a tree, for every technique.

- b_int: B-Int: as many combines as FlatFAT, by the papers' estimate.
- daba: DABA: five operations a query and edge.
- flat_fat: FlatFAT: one path up the tree per update, one walk per look-up.
- flat_fit: FlatFIT: three operations a query and edge, amortized.
- panes: Panes, naive: every final combines all the slides of its window.
- panes_inv: Panes with an inverse: every distinct range adds the newest partial and takes the oldest off.
- slick_deque_inv: SlickDeque for invertible aggregates: a running total per distinct range.
- slick_deque_noninv: SlickDeque for selective aggregates: a deque shared by all queries, one look-up each.
- two_stacks: Two-Stacks: an insert, a share of a flip and an answer, for every query.
- two_stacks_block: Two-Stacks with one flip per block: a suffix, a prefix and their combine, for every query.
"""

from __future__ import annotations

from collections.abc import Callable

from optimizer.cost.load import Load, Rate
from optimizer.cost.omega import (
    b_int,
    daba,
    flat_fat,
    flat_fit,
    panes,
    panes_inv,
    slick_deque_inv,
    slick_deque_noninv,
    two_stacks,
    two_stacks_block,
)

OMEGA: dict[str, Callable[[Load, Rate], float]] = {
    "panes": panes.omega,
    "panes_inv": panes_inv.omega,
    "flat_fat": flat_fat.omega,
    "b_int": b_int.omega,
    "flat_fit": flat_fit.omega,
    "two_stacks": two_stacks.omega,
    "daba": daba.omega,
    "slick_deque_inv": slick_deque_inv.omega,
    "slick_deque_noninv": slick_deque_noninv.omega,
    "two_stacks_block": two_stacks_block.omega,
}
