"""The incremental techniques of the papers, one file each, and KERNELS, the table that finds them.

- b_int: B-Int: aggregates of base intervals, of 2**l partials from a multiple of 2**l; a window is a few of them.
- daba: DABA: TwoStacks whose flip is spread over the partials that follow, so that no slide pays for all of it.
- flat_fat: FlatFAT: a complete binary tree over the ring of partials, stored as a heap.
- flat_fit: FlatFIT: each place holds the aggregate up to where its pointer leads.
- panes: Panes, naive: every window folds all of its partials again.
- panes_inv: Panes (Inv), subtract on evict: one running aggregate per range; what leaves the window is taken back.
- slick_deque_inv: SlickDeque (Inv): every partial updates the answer of every range at once, plus the new.
- slick_deque_noninv: SlickDeque (Non-Inv): a deque of the partials that no later one outdoes.
- stream: Partials through a kernel: batch by batch, or many keys at once; its state as bytes.
- two_stacks: TwoStacks: partials are pushed on the back stack; when the front is empty the back is flipped onto it.
- two_stacks_block: two_stacks_block partial by partial: resumable and counted.
"""

from __future__ import annotations

from importlib import import_module

from jobs.kernels.machine.contract import Kernel
from jobs.kernels.machine.memory import widen
from optimizer.algebra.techniques import CARDS


def _kernel(technique: str) -> Kernel:
    """Make the kernel of the file with that name; `widen` only where doubling the rings is not enough."""
    module = import_module(f"{__name__}.{technique}")
    return Kernel(module.make, module.advance, getattr(module, "widen", widen))


KERNELS: dict[str, Kernel] = {technique: _kernel(technique) for technique in CARDS}
