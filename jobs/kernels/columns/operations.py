"""How many combine operations the block form of two stacks takes; its bounds alone tell."""

from __future__ import annotations

from numba import njit

from jobs.kernels.arrays import Ints


@njit(cache=True, nogil=True)
def block_operations(lo: Ints, hi: Ints) -> int:
    """Operations of the windows [lo, hi): a flip joins all slices of a window, a step joins new ones and answers."""
    total = flip = end = 0
    for i in range(lo.size):
        if lo[i] >= flip:
            total += hi[i] - lo[i] - 1
            flip = end = hi[i]
            continue
        if end == flip and end < hi[i]:
            total -= 1  # the first slice after a flip is the front itself
        total += hi[i] - end
        end = hi[i]
        total += 1 if end > flip else 0
    return total


def regular_operations(width: int, step: int, count: int) -> int:
    """The same for so many windows of one width, each a step behind the other."""
    cycle = -(-width // step)  # windows to a flip

    def until(windows: int) -> int:
        return width - 1 + max(0, windows - 1) * (step + 1) - (windows > 1) if windows else 0

    return count // cycle * until(cycle) + until(count % cycle)
