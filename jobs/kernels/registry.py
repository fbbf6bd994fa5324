"""The table of kernels: one file each, one line each."""

from __future__ import annotations

from jobs.kernels import (
    b_int,
    daba,
    flat_fat,
    flat_fit,
    panes,
    panes_inv,
    slick_deque_inv,
    slick_deque_noninv,
    two_stacks,
    two_stacks_block_rows,
)
from jobs.kernels.contract import Kernel

KERNELS: dict[str, Kernel] = {
    "panes": Kernel(panes.make, panes.advance),
    "panes_inv": Kernel(panes_inv.make, panes_inv.advance),
    "flat_fat": Kernel(flat_fat.make, flat_fat.advance, flat_fat.widen),
    "b_int": Kernel(b_int.make, b_int.advance, b_int.widen),
    "flat_fit": Kernel(flat_fit.make, flat_fit.advance),
    "two_stacks": Kernel(two_stacks.make, two_stacks.advance),
    "daba": Kernel(daba.make, daba.advance),
    "slick_deque_inv": Kernel(slick_deque_inv.make, slick_deque_inv.advance),
    "slick_deque_noninv": Kernel(slick_deque_noninv.make, slick_deque_noninv.advance, slick_deque_noninv.widen),
    "two_stacks_block": Kernel(two_stacks_block_rows.make, two_stacks_block_rows.advance),
}
