"""What a kernel remembers between partials: a handful of flat arrays of one shape for all techniques.

Rows are kept as 64-bit words, so that every technique is compiled once and not once per kind of number: they are int64,
and where the op code has the bit FLOAT, their bits are those of float64.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from jobs.kernels.algebra import operators
from jobs.kernels.algebra.operators import copy_row, width_of
from jobs.kernels.arrays import Ints, Words, compile_in_place

FLOAT: Final = 16  # a bit of the op code

# the places of `scalars`
OP: Final = 0
TAIL: Final = 1  # how many partials came in
OLDEST: Final = 2  # the first partial still needed
OPERATIONS: Final = 3  # combine operations so far
SLIDE: Final = 4  # of them, since the latest partial came in
WORST: Final = 5  # the most of any slide
START: Final = 6  # when the latest partial starts
LOOKUPS: Final = 7  # nodes that answers read or pass without combining them
DEQUE_HEAD: Final = 8
DEQUE_TAIL: Final = 9
CURSOR: Final = 10
CURSOR_FIRST: Final = 11
SCALARS: Final = 12


class Memory(NamedTuple):
    """`rows`, every layer of `nodes` and `links` are rings of the same 2**k places; partial s has place s mod 2**k."""

    rows: Words  # the partials
    nodes: Words  # the technique's aggregates, one layer after the other
    links: Ints  # the technique's indices
    slots: Ints  # per distinct range: the technique's pointers or accumulator
    ranges: Ints  # the range of each slot
    slot_of_query: Ints
    scalars: Ints


def allocate(op: int, ranges: Ints, slot_of_query: Ints, capacity: int, layers: int, width: int) -> Memory:
    """Return an empty memory with `layers` layers of nodes and `width` integers in the slot of each range.

    >>> memory = allocate(operators.MAX | FLOAT, np.array([3, 5]), np.array([1, 0]), 8, layers=2, width=1)
    >>> memory.rows.shape, memory.nodes.shape, memory.links.shape, memory.slots.shape
    ((8, 4), (16, 4), (16,), (2, 1))
    """
    scalars = np.zeros(SCALARS, np.int64)
    scalars[OP] = op
    rings = _rings(capacity, layers, width_of(op & ~FLOAT))
    return Memory(*rings, np.zeros((len(ranges), width), np.int64), ranges, slot_of_query, scalars)


def _rings(capacity: int, layers: int, columns: int) -> tuple[Words, Words, Ints]:
    nodes = np.zeros((layers * capacity, columns), np.int64)
    return np.zeros((capacity, columns), np.int64), nodes, np.zeros(2 * capacity, np.int64)


def grow(memory: Memory, low: int, high: int) -> Memory:
    """Return the memory with twice the room; the partials `low` to `high` of every ring move to their new places.

    >>> memory = allocate(operators.MAX, np.array([3]), np.array([0]), 2, 0, 0)
    >>> memory.rows[:, 0] = 12, 11  # partial 1 has place 1, and partial 2 has come round to place 0
    >>> grow(memory, 1, 3).rows[:, 0].tolist()
    [0, 11, 12, 0]
    """
    capacity = len(memory.rows)
    layers = len(memory.nodes) // capacity
    rows, nodes, links = _rings(2 * capacity, layers, memory.rows.shape[1])
    partials = np.arange(low, high)
    old, new = partials % capacity, partials % (2 * capacity)
    rows[new] = memory.rows[old]
    links[new] = memory.links[old]
    for layer in range(layers):
        nodes[2 * layer * capacity + new] = memory.nodes[layer * capacity + old]
    return memory._replace(rows=rows, nodes=nodes, links=links)


def widen(memory: Memory) -> Memory:
    """Return the memory with twice the room for the partials that are still needed.

    >>> len(widen(allocate(operators.MAX, np.array([3]), np.array([0]), 2, 0, 0)).rows)
    4
    """
    return grow(memory, memory.scalars[OLDEST], memory.scalars[TAIL])


@compile_in_place
def reset(memory: Memory) -> None:
    """Forget all partials; keep the room and the number of operations.

    >>> memory = allocate(operators.MAX, np.array([3]), np.array([0]), 2, 0, 0)
    >>> count(memory, 5)
    >>> store(memory, np.array([[7, 0, 0, 1]]), 0)
    >>> reset(memory)
    >>> int(memory.scalars[TAIL]), int(memory.scalars[OPERATIONS])
    (0, 5)
    """
    memory.slots[:] = 0
    memory.scalars[TAIL] = memory.scalars[OLDEST] = memory.scalars[SLIDE] = 0
    memory.scalars[DEQUE_HEAD:] = 0


@compile_in_place
def count(memory: Memory, operations: int) -> None:
    """Note combine operations.

    >>> memory = allocate(operators.MAX, np.array([3]), np.array([0]), 2, 0, 0)
    >>> count(memory, 2)
    >>> begin_slide(memory, 10, 0)
    >>> count(memory, 1)
    >>> int(memory.scalars[OPERATIONS]), int(memory.scalars[WORST])
    (3, 2)
    """
    scalars = memory.scalars
    scalars[OPERATIONS] += operations
    scalars[SLIDE] += operations
    scalars[WORST] = max(scalars[WORST], scalars[SLIDE])


@compile_in_place
def begin_slide(memory: Memory, start: int, oldest: int) -> None:
    """Begin the slide of a partial that starts at `start`: those before `oldest` are no longer needed.

    >>> memory = allocate(operators.MAX, np.array([3]), np.array([0]), 2, 0, 0)
    >>> begin_slide(memory, 10, 4)
    >>> int(memory.scalars[START]), int(memory.scalars[OLDEST])
    (10, 4)
    """
    memory.scalars[START] = start
    memory.scalars[OLDEST] = oldest
    memory.scalars[SLIDE] = 0


@compile_in_place
def store(memory: Memory, rows: Words, i: int) -> None:
    """Keep the partial rows[i] in its place of the ring.

    >>> memory = allocate(operators.MAX, np.array([3]), np.array([0]), 2, 0, 0)
    >>> for value in (7, 8, 9):
    ...     store(memory, np.array([[value, 0, 0, 1]]), 0)
    >>> memory.rows[:, 0].tolist()
    [9, 8]
    """
    copy_row(rows, i, memory.rows, memory.scalars[TAIL] & (len(memory.rows) - 1))
    memory.scalars[TAIL] += 1


@compile_in_place
def combine(op: int, a: Words, i: int, b: Words, j: int, out: Words, k: int) -> None:
    """Set row k of out to a[i] combined with b[j], in this order; out may be a or b.

    >>> rows = operators.lift(operators.MAX, np.array([2.5, 1.5])).view(np.int64)
    >>> combine(operators.MAX | FLOAT, rows, 0, rows, 1, rows, 1)
    >>> rows.view(np.float64)[1].tolist()
    [2.5, 0.0, 0.0, 1.0]
    """
    if op & FLOAT:
        floats = out.view(np.float64)
        operators.combine(op ^ FLOAT, a.view(np.float64), i, b.view(np.float64), j, floats, k)
    else:
        operators.combine(op, a, i, b, j, out, k)


@compile_in_place
def selects_right(op: int, a: Words, i: int, b: Words, j: int) -> bool:
    """Say whether a selective operator picks row j of b over the earlier row i of a.

    >>> rows = operators.lift(operators.MAX, np.array([-2.5, -1.5])).view(np.int64)
    >>> selects_right(operators.MAX | FLOAT, rows, 0, rows, 1)
    True
    """
    if op & FLOAT:
        return bool(operators.selects_right(op ^ FLOAT, a.view(np.float64), i, b.view(np.float64), j))
    return bool(operators.selects_right(op, a, i, b, j))
