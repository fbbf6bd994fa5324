"""Omega: the estimated operations per edge of a tree, for every technique."""

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
