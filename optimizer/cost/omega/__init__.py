"""Omega: the estimated operations per edge of a tree, for every technique."""

from __future__ import annotations

from collections.abc import Callable

from optimizer.cost.load import Load, Rate
from optimizer.cost.omega import daba, flat_fat, flat_fit, panes, slick_deque_inv, slick_deque_noninv

OMEGA: dict[str, Callable[[Load, Rate], float]] = {
    "panes": panes.omega,
    "panes_inv": slick_deque_inv.omega,
    "flat_fat": flat_fat.omega,
    "b_int": flat_fat.omega,
    "flat_fit": flat_fit.omega,
    "two_stacks": flat_fit.omega,
    "daba": daba.omega,
    "slick_deque_inv": slick_deque_inv.omega,
    "slick_deque_noninv": slick_deque_noninv.omega,
    "two_stacks_block": flat_fit.omega,
}
