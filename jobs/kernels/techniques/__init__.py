"""The table of kernels: one file each, one line each.

- b_int: B-Int: aggregates of base intervals, of 2**l partials from a multiple of 2**l; a window is a few of them.
- daba: DABA: TwoStacks whose flip is spread over the partials that follow, so that no slide pays for all of it.
- flat_fat: FlatFAT: a complete binary tree over the ring of partials, stored as a heap.
- flat_fit: FlatFIT: each place holds the aggregate up to where its pointer leads.
- panes: Panes, naive: every window folds all of its partials again.
- panes_inv: Panes (Inv), subtract on evict: one running aggregate per range; what leaves the window is taken back.
- slick_deque_inv: SlickDeque (Inv): every partial updates the answer of every range at once, plus the new.
- slick_deque_noninv: SlickDeque (Non-Inv): a deque of the partials that no later one outdoes.
- state_bytes: A kernel's state as bytes: a line of JSON that says what follows, then the raw arrays.
- stream: Partials through a kernel: one key batch by batch (`make`, `advance`), or many keys at once (`run`).
- two_stacks: TwoStacks: partials are pushed on the back stack; when the front is empty the back is flipped onto it.
- two_stacks_block: two_stacks_block partial by partial: resumable and counted.
"""

from __future__ import annotations

from jobs.kernels.machine.contract import Kernel
from jobs.kernels.techniques import (
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
    "two_stacks_block": Kernel(two_stacks_block.make, two_stacks_block.advance),
}
