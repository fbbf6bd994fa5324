"""What a kernel remembers between partials: a handful of flat arrays of one shape for all techniques."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from jobs.kernels.operators import WIDTH, copy_row
from jobs.kernels.words import Words

Ints = NDArray[np.int64]

OP: Final = 0
TAIL: Final = 1  # how many partials came in
OLDEST: Final = 2  # the first partial still needed
OPERATIONS: Final = 3  # combine operations so far
SLIDE: Final = 4  # of them, since the latest partial came in
WORST: Final = 5  # the most of any slide
DEQUE_HEAD: Final = 6
DEQUE_TAIL: Final = 7
CURSOR: Final = 8
CURSOR_FIRST: Final = 9
SCALARS: Final = 10


class Memory(NamedTuple):
    """`rows`, every layer of `nodes` and `links` are rings of the same 2**k places; partial s has place s mod 2**k."""

    rows: Words  # the partials
    nodes: Words  # the technique's aggregates, one layer after the other
    links: Ints  # the technique's indices
    lanes: Ints  # per distinct range: the technique's pointers or accumulator
    ranges: Ints  # the range of each lane
    lane: Ints  # the lane of each query
    scalars: Ints


@njit(cache=True)
def allocate(op: int, ranges: Ints, lane: Ints, capacity: int, layers: int, width: int) -> Memory:
    """An empty memory: so many layers of nodes, so many integers in each lane."""
    scalars = np.zeros(SCALARS, np.int64)
    scalars[OP] = op
    return Memory(
        np.zeros((capacity, WIDTH), np.int64),
        np.zeros((layers * capacity, WIDTH), np.int64),
        np.zeros(2 * capacity, np.int64),
        np.zeros((len(ranges), width), np.int64),
        ranges,
        lane,
        scalars,
    )


@njit(cache=True)
def reset(memory: Memory) -> None:
    """Forget all partials, keep the room and the number of operations."""
    memory.lanes[:] = 0
    memory.scalars[TAIL] = memory.scalars[OLDEST] = memory.scalars[SLIDE] = 0
    memory.scalars[DEQUE_HEAD:] = 0


@njit(cache=True)
def count(memory: Memory, operations: int) -> None:
    """Note combine operations."""
    scalars = memory.scalars
    scalars[OPERATIONS] += operations
    scalars[SLIDE] += operations
    scalars[WORST] = max(scalars[WORST], scalars[SLIDE])


@njit(cache=True)
def begin_slide(memory: Memory, oldest: int) -> None:
    """A partial is about to come in: those before `oldest` are no longer needed."""
    memory.scalars[OLDEST] = oldest
    memory.scalars[SLIDE] = 0


@njit(cache=True)
def full(memory: Memory) -> bool:
    """Whether the next partial would overwrite one that is still needed."""
    return bool(memory.scalars[TAIL] - memory.scalars[OLDEST] >= len(memory.rows))


@njit(cache=True)
def grow(memory: Memory, low: int, high: int) -> Memory:
    """Twice the room; places `low` to `high` of every ring are kept."""
    capacity = len(memory.rows)
    mask = 2 * capacity - 1
    layers = len(memory.nodes) // capacity
    rows = np.zeros((2 * capacity, WIDTH), np.int64)
    nodes = np.zeros((2 * layers * capacity, WIDTH), np.int64)
    links = np.zeros(4 * capacity, np.int64)
    for s in range(low, high):
        old, new = s & (capacity - 1), s & mask
        copy_row(memory.rows, old, rows, new)
        links[new] = memory.links[old]
        for layer in range(layers):
            copy_row(memory.nodes, layer * capacity + old, nodes, 2 * layer * capacity + new)
    return Memory(rows, nodes, links, memory.lanes, memory.ranges, memory.lane, memory.scalars)


@njit(cache=True)
def store(memory: Memory, rows: Words, i: int) -> Memory:
    """Keep the partial rows[i] in its place, with more room if it needs to."""
    if full(memory):
        memory = grow(memory, memory.scalars[OLDEST], memory.scalars[TAIL])
    copy_row(rows, i, memory.rows, memory.scalars[TAIL] & (len(memory.rows) - 1))
    memory.scalars[TAIL] += 1
    return memory
