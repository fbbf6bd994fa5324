"""FlatFAT: a complete binary tree over the ring of partials, stored as a heap; every partial updates its path."""

from __future__ import annotations

from jobs.kernels.algebra.operators import LAST, MIN, copy_row
from jobs.kernels.arrays import ZERO, Ints, Words, compile_in_place
from jobs.kernels.machine.clock import Steps
from jobs.kernels.machine.contract import run_steps
from jobs.kernels.machine.memory import FLOAT, OLDEST, OP, TAIL, Memory, allocate, combine, count, store
from jobs.kernels.machine.memory import widen as widen_rings


def make(op: int, ranges: Ints, slot_of_query: Ints, capacity: int) -> Memory:
    """Return an empty tree: node v has the children 2v and 2v + 1; the leaves are the last `capacity` nodes.

    >>> import numpy as np
    >>> memory = make(5, np.array([3, 9]), np.array([0, 1]), 8)
    >>> memory.nodes.shape, memory.slots.shape
    ((16, 4), (2, 0))
    """
    return allocate(op, ranges, slot_of_query, capacity, 2, 0)


@compile_in_place
def _update(memory: Memory, node: int) -> None:
    while node > 1:
        node >>= 1
        combine(memory.scalars[OP], memory.nodes, 2 * node, memory.nodes, 2 * node + 1, memory.nodes, node)
        count(memory, 1)


@compile_in_place
def _rebuild(memory: Memory) -> None:
    capacity = len(memory.rows)
    for s in range(memory.scalars[OLDEST], memory.scalars[TAIL]):
        place = s & (capacity - 1)
        copy_row(memory.rows, place, memory.nodes, capacity + place)
    for node in range(capacity - 1, 0, -1):
        combine(memory.scalars[OP], memory.nodes, 2 * node, memory.nodes, 2 * node + 1, memory.nodes, node)
    count(memory, capacity - 1)


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
    """Set the leaf, then every node on the way to the root. `query` shows an example."""
    store(memory, rows, i)
    leaf = len(memory.rows) + ((memory.scalars[TAIL] - 1) & (len(memory.rows) - 1))
    copy_row(rows, i, memory.nodes, leaf)
    _update(memory, leaf)


@compile_in_place
def _cover(low: int, high: int, pieces: Ints, count: int) -> int:
    """Append to the pieces, in order, as few nodes as cover the leaves from low to high; return how many there are."""
    right = len(pieces)
    while low < high:
        if low & 1:
            pieces[count] = low
            count += 1
            low += 1
        if high & 1:
            high -= 1
            right -= 1
            pieces[right] = high
        low >>= 1
        high >>= 1
    for i in range(right, len(pieces)):
        pieces[count] = pieces[i]
        count += 1
    return count


@compile_in_place
def _ignores_order(op: int) -> bool:
    """Say whether the root answers a full ring that begins in its middle: selective operators tell ties by order."""
    return not MIN <= op & ~FLOAT <= LAST


@compile_in_place
def query(memory: Memory, _: int, first: int, out: Words, k: int) -> None:
    """Fold the nodes that cover the window; around the ring's end it is a suffix of the leaves, then a prefix.

    A window that fills the ring is the root.

    >>> import numpy as np
    >>> memory, rows = make(5, np.array([3]), np.array([0]), 4), np.array([[5, 0, 0, 1], [7, 0, 0, 1], [6, 0, 0, 1]])
    >>> for i in range(3):
    ...     insert(memory, rows, i)
    >>> query(memory, 0, 1, rows, 0)  # MAX of 7 and 6
    >>> rows[0].tolist()
    [7, 0, 0, 1]
    """
    capacity, pieces = len(memory.rows), memory.links
    if memory.scalars[TAIL] - first == capacity and _ignores_order(memory.scalars[OP]):
        copy_row(memory.nodes, 1, out, k)
        return
    low = capacity + (first & (capacity - 1))
    high = low + memory.scalars[TAIL] - first
    nodes = _cover(low, min(high, 2 * capacity), pieces, ZERO)
    if high > 2 * capacity:
        nodes = _cover(capacity, high - capacity, pieces, nodes)
    copy_row(memory.nodes, pieces[0], out, k)
    for i in range(1, nodes):
        combine(memory.scalars[OP], out, k, memory.nodes, pieces[i], out, k)
    count(memory, nodes - 1)


@compile_in_place
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps: partials from rows, answers into out. `advance` of stream.py shows an example."""
    run_steps(insert, query, memory, steps, rows, out)
