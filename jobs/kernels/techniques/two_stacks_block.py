"""two_stacks_block partial by partial: resumable and counted. The columnar form folds whole batches the same way.

Nothing is done when a partial comes in. A window that begins behind the flip point flips all it holds; the windows
after it extend one running prefix.
"""

from __future__ import annotations

from typing import Final

from numba import njit

from jobs.kernels.algebra.operators import copy_row
from jobs.kernels.arrays import Ints, Words
from jobs.kernels.machine.clock import Steps
from jobs.kernels.machine.loop import take
from jobs.kernels.machine.memory import OP, TAIL, Memory, allocate, count, store
from jobs.kernels.machine.words import combine
from jobs.kernels.techniques.two_stacks import flip

FLIP: Final = 0  # the aggregates of places before it are suffixes up to it
END: Final = 1  # the place before it holds the prefix from the flip point on


def make(op: int, ranges: Ints, lane: Ints, capacity: int) -> Memory:
    """A layer of nodes and two pointers for each range."""
    return allocate(op, ranges, lane, capacity, len(ranges), 2)


@njit(cache=True)
def _extend(memory: Memory, layer: Words, flip: int, end: int) -> None:
    mask, tail = len(memory.rows) - 1, memory.scalars[TAIL]
    if flip == end < tail:
        copy_row(memory.rows, end & mask, layer, end & mask)
        end += 1
    for s in range(end, tail):
        combine(memory.scalars[OP], layer, (s - 1) & mask, memory.rows, s & mask, layer, s & mask)
    count(memory, tail - end)


@njit(cache=True)
def query(memory: Memory, lane: int, first: int, out: Words, k: int) -> None:
    """The suffix from the window's first partial, combined with the prefix behind the flip point."""
    capacity, tail, p = len(memory.rows), memory.scalars[TAIL], memory.lanes[lane]
    layer = memory.nodes[lane * capacity : (lane + 1) * capacity]
    if first >= p[FLIP]:
        flip(memory, layer, first)
        p[FLIP] = tail
    else:
        _extend(memory, layer, p[FLIP], p[END])
    p[END] = tail
    copy_row(layer, first & (capacity - 1), out, k)
    if p[FLIP] < tail:
        combine(memory.scalars[OP], out, k, layer, (tail - 1) & (capacity - 1), out, k)
        count(memory, 1)


@njit(cache=True)
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps: partials from rows, answers into out."""
    take(store, query, memory, steps, rows, out)
