"""B-Int: aggregates of base intervals, of 2**l partials from a multiple of 2**l; a window is a few of them."""

from __future__ import annotations

from jobs.kernels.algebra.operators import copy_row
from jobs.kernels.arrays import Ints, Words, compile_in_place
from jobs.kernels.machine.clock import Steps
from jobs.kernels.machine.contract import run_steps
from jobs.kernels.machine.memory import OLDEST, OP, TAIL, Memory, allocate, combine, count, store
from jobs.kernels.machine.memory import widen as widen_rings


def make(op: int, ranges: Ints, slot_of_query: Ints, capacity: int) -> Memory:
    """Return an empty memory: the interval of level l from partial s is node (capacity + place of s) >> l.

    >>> import numpy as np
    >>> memory = make(5, np.array([3, 9]), np.array([0, 1]), 8)
    >>> memory.nodes.shape, memory.slots.shape
    ((16, 4), (2, 0))
    """
    return allocate(op, ranges, slot_of_query, capacity, 2, 0)


@compile_in_place
def _complete(memory: Memory, s: int) -> None:
    """Aggregate the intervals that partial s completes, from the two halves of each."""
    op, nodes, node = memory.scalars[OP], memory.nodes, len(memory.rows) + (s & (len(memory.rows) - 1))
    while s & 1 and node > 1:
        s >>= 1
        node >>= 1
        combine(op, nodes, 2 * node, nodes, 2 * node + 1, nodes, node)
        count(memory, 1)


@compile_in_place
def _rebuild(memory: Memory) -> None:
    capacity = len(memory.rows)
    for s in range(memory.scalars[OLDEST], memory.scalars[TAIL]):
        place = s & (capacity - 1)
        copy_row(memory.rows, place, memory.nodes, capacity + place)
        _complete(memory, s)


def widen(memory: Memory) -> Memory:
    """Return the memory with twice the room, and rebuild the nodes: their places depend on it.

    >>> import numpy as np
    >>> len(widen(make(5, np.array([3]), np.array([0]), 4)).rows)
    8
    """
    wider = widen_rings(memory)
    _rebuild(wider)
    return wider


@compile_in_place
def insert(memory: Memory, rows: Words, i: int) -> None:
    """Store the partial as the interval of level 0; compute higher ones when they are complete.

    `query` shows an example.
    """
    store(memory, rows, i)
    s = memory.scalars[TAIL] - 1
    copy_row(rows, i, memory.nodes, len(memory.rows) + (s & (len(memory.rows) - 1)))
    _complete(memory, s)


@compile_in_place
def query(memory: Memory, _: int, first: int, out: Words, k: int) -> None:
    """Cover the window from the left, each time by the longest interval that fits.

    >>> import numpy as np
    >>> memory, rows = make(5, np.array([3]), np.array([0]), 4), np.array([[5, 0, 0, 1], [7, 0, 0, 1], [6, 0, 0, 1]])
    >>> for i in range(3):
    ...     insert(memory, rows, i)
    >>> query(memory, 0, 1, rows, 0)  # MAX of 7 and 6
    >>> rows[0].tolist()
    [7, 0, 0, 1]
    """
    capacity, tail, s = len(memory.rows), memory.scalars[TAIL], first
    while s < tail:
        length, node = 1, capacity + (s & (capacity - 1))
        while s & length == 0 and s + 2 * length <= tail and node > 1:
            length *= 2
            node >>= 1
        if s == first:
            copy_row(memory.nodes, node, out, k)
        else:
            combine(memory.scalars[OP], out, k, memory.nodes, node, out, k)
            count(memory, 1)
        s += length


@compile_in_place
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps: partials from rows, answers into out. `advance` of stream.py shows an example."""
    run_steps(insert, query, memory, steps, rows, out)
