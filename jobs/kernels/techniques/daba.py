"""DABA: TwoStacks whose flip is spread over the partials that follow, so that no slide pays for all of it.

A queue with the pointers F <= L <= R <= A <= B <= E. The front is F..B, the back B..E. What a place's aggregate covers:
F..L up to B; L..R up to R; R..A from R on; A..B up to B; B..E from B on.
"""

from __future__ import annotations

from typing import Final

from jobs.kernels.algebra.operators import copy_row
from jobs.kernels.arrays import Ints, Words, compile_in_place
from jobs.kernels.machine.clock import Steps
from jobs.kernels.machine.contract import run_steps
from jobs.kernels.machine.memory import OLDEST, OP, TAIL, Memory, allocate, combine, count, store

F: Final = 0
L: Final = 1
R: Final = 2
A: Final = 3
B: Final = 4


def make(op: int, ranges: Ints, slot_of_query: Ints, capacity: int) -> Memory:
    """Return an empty memory: a layer of nodes and five pointers for each range; E is the number of partials.

    >>> import numpy as np
    >>> memory = make(5, np.array([3, 9]), np.array([0, 1]), 8)
    >>> memory.nodes.shape, memory.slots.shape
    ((16, 4), (2, 5))
    """
    return allocate(op, ranges, slot_of_query, capacity, len(ranges), 5)


@compile_in_place
def _shrink(memory: Memory, p: Ints, layer: Words) -> None:
    """Give one more place on either side of the unfinished middle its aggregate up to B."""
    op, mask = memory.scalars[OP], len(layer) - 1
    left, right = p[L] & mask, (p[A] - 1) & mask
    if p[A] > p[R]:
        combine(op, layer, left, layer, right, layer, left)
        count(memory, 1)
    if p[A] < p[B]:
        combine(op, layer, left, layer, p[A] & mask, layer, left)
        combine(op, memory.rows, right, layer, p[A] & mask, layer, right)
        count(memory, 2)
    else:
        copy_row(memory.rows, right, layer, right)
    p[L] += 1
    p[A] -= 1


@compile_in_place
def _fix_up(memory: Memory, p: Ints, layer: Words) -> None:
    tail = memory.scalars[TAIL]
    if p[F] == p[B]:
        p[L] = p[R] = p[A] = p[B] = tail  # at most one partial: its aggregate is itself
        return
    if p[L] == p[B]:
        p[L] = p[F]
        p[A] = p[B] = tail
    if p[L] == p[R]:
        p[L] += 1
        p[R] += 1
        p[A] += 1
    else:
        _shrink(memory, p, layer)


@compile_in_place
def _evict(memory: Memory, slot: int, first: int) -> None:
    capacity, p = len(memory.rows), memory.slots[slot]
    while p[F] < first:
        p[F] += 1
        _fix_up(memory, p, memory.nodes[slot * capacity : (slot + 1) * capacity])


@compile_in_place
def insert(memory: Memory, rows: Words, i: int) -> None:
    """Push the partial on the back of every range's queue. `query` shows an example."""
    for slot in range(len(memory.slots)):
        _evict(memory, slot, memory.scalars[OLDEST])
    store(memory, rows, i)
    capacity, s = len(memory.rows), memory.scalars[TAIL] - 1
    place = s & (capacity - 1)
    for slot in range(len(memory.slots)):
        layer, p = memory.nodes[slot * capacity : (slot + 1) * capacity], memory.slots[slot]
        if p[B] == s:
            copy_row(rows, i, layer, place)
        else:
            combine(memory.scalars[OP], layer, (s - 1) & (capacity - 1), rows, i, layer, place)
            count(memory, 1)
        _fix_up(memory, p, layer)


@compile_in_place
def query(memory: Memory, slot: int, first: int, out: Words, k: int) -> None:
    """Evict what has left the window; the answer is the aggregate at F combined with the last one of the back.

    >>> import numpy as np
    >>> memory, rows = make(5, np.array([3]), np.array([0]), 4), np.array([[5, 0, 0, 1], [7, 0, 0, 1], [6, 0, 0, 1]])
    >>> for i in range(3):
    ...     insert(memory, rows, i)
    >>> query(memory, 0, 1, rows, 0)  # MAX of 7 and 6
    >>> rows[0].tolist()
    [7, 0, 0, 1]
    """
    _evict(memory, slot, first)
    capacity, tail, p = len(memory.rows), memory.scalars[TAIL], memory.slots[slot]
    layer = memory.nodes[slot * capacity : (slot + 1) * capacity]
    copy_row(layer, (first if first < p[B] else tail - 1) & (capacity - 1), out, k)
    if first < p[B] < tail:
        combine(memory.scalars[OP], out, k, layer, (tail - 1) & (capacity - 1), out, k)
        count(memory, 1)


@compile_in_place
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps: partials from rows, answers into out. `advance` of stream.py shows an example."""
    run_steps(insert, query, memory, steps, rows, out)
