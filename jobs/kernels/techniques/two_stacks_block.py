"""two_stacks_block partial by partial: resumable and counted. The columnar form folds whole batches the same way.

Nothing is done when a partial comes in. A window that begins behind the flip point flips all it holds; the windows
after it extend one running prefix.
"""

from __future__ import annotations

from typing import Final

from jobs.kernels.algebra.operators import copy_row
from jobs.kernels.arrays import Ints, Words, compile_in_place
from jobs.kernels.machine.clock import Steps
from jobs.kernels.machine.contract import run_steps
from jobs.kernels.machine.memory import OP, TAIL, Memory, allocate, combine, count, store
from jobs.kernels.techniques.two_stacks import flip

FLIP: Final = 0  # the aggregates of places before it are suffixes up to it
END: Final = 1  # the place before it holds the prefix from the flip point on


def make(op: int, ranges: Ints, slot_of_query: Ints, capacity: int) -> Memory:
    """Return an empty memory: a layer of nodes and two pointers for each range.

    >>> import numpy as np
    >>> memory = make(5, np.array([3, 9]), np.array([0, 1]), 8)
    >>> memory.nodes.shape, memory.slots.shape
    ((16, 4), (2, 2))
    """
    return allocate(op, ranges, slot_of_query, capacity, len(ranges), 2)


@compile_in_place
def _extend(memory: Memory, layer: Words, flip: int, end: int) -> None:
    mask, tail = len(memory.rows) - 1, memory.scalars[TAIL]
    if flip == end < tail:
        copy_row(memory.rows, end & mask, layer, end & mask)
        end += 1
    for s in range(end, tail):
        combine(memory.scalars[OP], layer, (s - 1) & mask, memory.rows, s & mask, layer, s & mask)
    count(memory, tail - end)


@compile_in_place
def query(memory: Memory, slot: int, first: int, out: Words, k: int) -> None:
    """Combine the suffix from the window's first partial with the prefix behind the flip point.

    >>> import numpy as np
    >>> memory, rows = make(5, np.array([3]), np.array([0]), 4), np.array([[5, 0, 0, 1], [7, 0, 0, 1], [6, 0, 0, 1]])
    >>> for i in range(3):
    ...     store(memory, rows, i)
    >>> query(memory, 0, 1, rows, 0)  # MAX of 7 and 6
    >>> rows[0].tolist()
    [7, 0, 0, 1]
    """
    capacity, tail, p = len(memory.rows), memory.scalars[TAIL], memory.slots[slot]
    layer = memory.nodes[slot * capacity : (slot + 1) * capacity]
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


@compile_in_place
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps: partials from rows, answers into out. `advance` of stream.py shows an example."""
    run_steps(store, query, memory, steps, rows, out)
