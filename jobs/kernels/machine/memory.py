"""What a kernel remembers between partials: a handful of flat arrays of one shape for all techniques."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit

from jobs.kernels.algebra.operators import WIDTH, copy_row
from jobs.kernels.arrays import Ints, Words

OP: Final = 0
TAIL: Final = 1  # how many partials came in
OLDEST: Final = 2  # the first partial still needed
OPERATIONS: Final = 3  # combine operations so far
SLIDE: Final = 4  # of them, since the latest partial came in
WORST: Final = 5  # the most of any slide
START: Final = 6  # when the latest partial starts
DEQUE_HEAD: Final = 7
DEQUE_TAIL: Final = 8
CURSOR: Final = 9
CURSOR_FIRST: Final = 10
SCALARS: Final = 11


class Memory(NamedTuple):
    """`rows`, every layer of `nodes` and `links` are rings of the same 2**k places; partial s has place s mod 2**k."""

    rows: Words  # the partials
    nodes: Words  # the technique's aggregates, one layer after the other
    links: Ints  # the technique's indices
    lanes: Ints  # per distinct range: the technique's pointers or accumulator
    ranges: Ints  # the range of each lane
    lane: Ints  # the lane of each query
    scalars: Ints


def allocate(op: int, ranges: Ints, lane: Ints, capacity: int, layers: int, width: int) -> Memory:
    """An empty memory: so many layers of nodes, so many integers in each lane."""
    scalars = np.zeros(SCALARS, np.int64)
    scalars[OP] = op
    return Memory(*_rings(capacity, layers), np.zeros((len(ranges), width), np.int64), ranges, lane, scalars)


def _rings(capacity: int, layers: int) -> tuple[Words, Words, Ints]:
    nodes = np.zeros((layers * capacity, WIDTH), np.int64)
    return np.zeros((capacity, WIDTH), np.int64), nodes, np.zeros(2 * capacity, np.int64)


def grow(memory: Memory, low: int, high: int) -> Memory:
    """Twice the room; places `low` to `high` of every ring are kept."""
    capacity = len(memory.rows)
    layers = len(memory.nodes) // capacity
    rows, nodes, links = _rings(2 * capacity, layers)
    kept = np.arange(low, high)
    old, new = kept % capacity, kept % (2 * capacity)
    rows[new] = memory.rows[old]
    links[new] = memory.links[old]
    for layer in range(layers):
        nodes[2 * layer * capacity + new] = memory.nodes[layer * capacity + old]
    return memory._replace(rows=rows, nodes=nodes, links=links)


def widen(memory: Memory) -> Memory:
    """Twice the room for the partials that are still needed."""
    return grow(memory, memory.scalars[OLDEST], memory.scalars[TAIL])


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
def begin_slide(memory: Memory, start: int, oldest: int) -> None:
    """A partial that starts then is about to come in: those before `oldest` are no longer needed."""
    memory.scalars[START] = start
    memory.scalars[OLDEST] = oldest
    memory.scalars[SLIDE] = 0


@njit(cache=True)
def store(memory: Memory, rows: Words, i: int) -> None:
    """Keep the partial rows[i] in its place."""
    copy_row(rows, i, memory.rows, memory.scalars[TAIL] & (len(memory.rows) - 1))
    memory.scalars[TAIL] += 1
