"""TwoStacks: partials are pushed on the back stack; when the front is empty the back is flipped onto it."""

from __future__ import annotations

from typing import Final

from jobs.kernels.algebra.operators import copy_row
from jobs.kernels.arrays import Ints, Words, compile_in_place
from jobs.kernels.machine.clock import Steps
from jobs.kernels.machine.contract import run_steps
from jobs.kernels.machine.memory import OP, TAIL, Memory, allocate, combine, count, store

BACK: Final = 0  # the first partial of the back stack


def make(op: int, ranges: Ints, slot_of_query: Ints, capacity: int) -> Memory:
    """Return an empty memory: for each range a layer of suffixes on the front stack, prefixes on the back.

    >>> import numpy as np
    >>> memory = make(5, np.array([3, 9]), np.array([0, 1]), 8)
    >>> memory.nodes.shape, memory.slots.shape
    ((16, 4), (2, 1))
    """
    return allocate(op, ranges, slot_of_query, capacity, len(ranges), 1)


@compile_in_place
def insert(memory: Memory, rows: Words, i: int) -> None:
    """Push the partial on the back stack of every range. `query` shows an example."""
    store(memory, rows, i)
    capacity, s = len(memory.rows), memory.scalars[TAIL] - 1
    for slot in range(len(memory.slots)):
        layer = memory.nodes[slot * capacity : (slot + 1) * capacity]
        if memory.slots[slot, BACK] == s:
            copy_row(rows, i, layer, s & (capacity - 1))
        else:
            top = (s - 1) & (capacity - 1)
            combine(memory.scalars[OP], layer, top, rows, i, layer, s & (capacity - 1))
            count(memory, 1)


@compile_in_place
def flip(memory: Memory, layer: Words, first: int) -> None:
    """Set the layer to the suffix aggregates of all partials from the first on, up to the latest.

    `query` shows an example.
    """
    mask, tail = len(memory.rows) - 1, memory.scalars[TAIL]
    copy_row(memory.rows, (tail - 1) & mask, layer, (tail - 1) & mask)
    for s in range(tail - 2, first - 1, -1):
        combine(memory.scalars[OP], memory.rows, s & mask, layer, (s + 1) & mask, layer, s & mask)
    count(memory, tail - 1 - first)


@compile_in_place
def query(memory: Memory, slot: int, first: int, out: Words, k: int) -> None:
    """Pop what has left the window, flip if that empties the front, then combine the two tops.

    >>> import numpy as np
    >>> memory, rows = make(5, np.array([3]), np.array([0]), 4), np.array([[5, 0, 0, 1], [7, 0, 0, 1], [6, 0, 0, 1]])
    >>> for i in range(3):
    ...     insert(memory, rows, i)
    >>> query(memory, 0, 1, rows, 0)  # MAX of 7 and 6
    >>> rows[0].tolist()
    [7, 0, 0, 1]
    """
    capacity, tail = len(memory.rows), memory.scalars[TAIL]
    layer = memory.nodes[slot * capacity : (slot + 1) * capacity]
    if first > memory.slots[slot, BACK]:
        flip(memory, layer, first)
        memory.slots[slot, BACK] = tail
    back = memory.slots[slot, BACK]
    copy_row(layer, (first if first < back else tail - 1) & (capacity - 1), out, k)
    if first < back < tail:
        combine(memory.scalars[OP], out, k, layer, (tail - 1) & (capacity - 1), out, k)
        count(memory, 1)


@compile_in_place
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps: partials from rows, answers into out. `advance` of stream.py shows an example."""
    run_steps(insert, query, memory, steps, rows, out)
