"""FlatFAT: a complete binary tree over the ring of partials, stored as a heap; every partial updates its path."""

from __future__ import annotations

from numba import njit

from jobs.kernels.clock import INSERT, RESET, Steps
from jobs.kernels.memory import OLDEST, OP, TAIL, Ints, Memory, allocate, begin_slide, count, full, grow, reset, store
from jobs.kernels.operators import Rows, clear_row, combine, copy_row


@njit(cache=True)
def make(op: int, ranges: Ints, lane: Ints, like: Rows, capacity: int) -> Memory:
    """Node v has the children 2v and 2v + 1; the leaves are the last `capacity` nodes; node 0 is scratch."""
    return allocate(op, ranges, lane, like, capacity, 2, 0)


@njit(cache=True)
def _update(memory: Memory, node: int) -> None:
    while node > 1:
        node >>= 1
        combine(memory.scalars[OP], memory.nodes, 2 * node, memory.nodes, 2 * node + 1, memory.nodes, node)
        count(memory, 1)


@njit(cache=True)
def _rebuild(memory: Memory) -> None:
    capacity = len(memory.rows)
    for s in range(memory.scalars[OLDEST], memory.scalars[TAIL]):
        place = s & (capacity - 1)
        copy_row(memory.rows, place, memory.nodes, capacity + place)
    for node in range(capacity - 1, 0, -1):
        combine(memory.scalars[OP], memory.nodes, 2 * node, memory.nodes, 2 * node + 1, memory.nodes, node)
    count(memory, capacity - 1)


@njit(cache=True)
def insert(memory: Memory, rows: Rows, i: int) -> Memory:
    """Set the leaf, then every node on the way to the root."""
    if full(memory):
        memory = grow(memory, memory.scalars[OLDEST], memory.scalars[TAIL])
        _rebuild(memory)
    memory = store(memory, rows, i)
    leaf = len(memory.rows) + ((memory.scalars[TAIL] - 1) & (len(memory.rows) - 1))
    copy_row(rows, i, memory.nodes, leaf)
    _update(memory, leaf)
    return memory


@njit(cache=True)
def _fold(memory: Memory, low: int, high: int, out: Rows, k: int) -> int:
    """Append the leaves from low to high to out[k], by as few nodes as cover them; returns how many nodes."""
    op, nodes, pieces = memory.scalars[OP], memory.nodes, 0
    clear_row(nodes, 0)
    while low < high:
        if low & 1:
            combine(op, out, k, nodes, low, out, k)
            low += 1
            pieces += 1
        if high & 1:
            high -= 1
            combine(op, nodes, high, nodes, 0, nodes, 0)
            pieces += 1
        low >>= 1
        high >>= 1
    combine(op, out, k, nodes, 0, out, k)
    return pieces


@njit(cache=True)
def query(memory: Memory, first: int, out: Rows, k: int) -> None:
    """The root when it covers the window exactly; a window around the ring's end is a suffix, then a prefix."""
    capacity = len(memory.rows)
    low = capacity + (first & (capacity - 1))
    high = low + memory.scalars[TAIL] - first
    clear_row(out, k)
    pieces = _fold(memory, low, min(high, 2 * capacity), out, k)
    if high > 2 * capacity:
        pieces += _fold(memory, capacity, high - capacity, out, k)
    count(memory, pieces - 1)


@njit(cache=True)
def advance(memory: Memory, steps: Steps, rows: Rows, out: Rows) -> Memory:
    """Take the steps: partials from rows, answers into out."""
    i = k = 0
    for step in range(len(steps.query)):
        if steps.query[step] == INSERT:
            begin_slide(memory, steps.first[step])
            memory = insert(memory, rows, i)
            i += 1
        elif steps.query[step] == RESET:
            reset(memory)
        else:
            query(memory, steps.first[step], out, k)
            k += 1
    return memory
