"""FlatFIT: each place holds the aggregate up to where its pointer leads; a window's walk shortens the ways it took."""

from __future__ import annotations

from jobs.kernels.algebra.operators import copy_row
from jobs.kernels.arrays import Ints, Words, compile_in_place
from jobs.kernels.machine.clock import Steps
from jobs.kernels.machine.contract import run_steps
from jobs.kernels.machine.memory import OP, TAIL, Memory, allocate, combine, count, store


def make(op: int, ranges: Ints, slot_of_query: Ints, capacity: int) -> Memory:
    """Return an empty memory: a layer of nodes; of the links, one half are pointers, one the stack of positions.

    >>> import numpy as np
    >>> memory = make(5, np.array([3, 9]), np.array([0, 1]), 8)
    >>> memory.nodes.shape, memory.links.shape
    ((8, 4), (16,))
    """
    return allocate(op, ranges, slot_of_query, capacity, 1, 0)


@compile_in_place
def insert(memory: Memory, rows: Words, i: int) -> None:
    """Let the newest place hold the partial alone and lead to the next. `query` shows an example."""
    store(memory, rows, i)
    tail = memory.scalars[TAIL]
    place = (tail - 1) & (len(memory.rows) - 1)
    copy_row(rows, i, memory.nodes, place)
    memory.links[place] = tail


@compile_in_place
def query(memory: Memory, _: int, first: int, out: Words, k: int) -> None:
    """Follow the pointers to the newest partial, then fold back, and let every visited place lead there at once.

    >>> import numpy as np
    >>> memory, rows = make(5, np.array([3]), np.array([0]), 4), np.array([[5, 0, 0, 1], [7, 0, 0, 1], [6, 0, 0, 1]])
    >>> for i in range(3):
    ...     insert(memory, rows, i)
    >>> query(memory, 0, 1, rows, 0)  # MAX of 7 and 6
    >>> rows[0].tolist()
    [7, 0, 0, 1]
    """
    capacity, tail = len(memory.rows), memory.scalars[TAIL]
    links, depth, place = memory.links, 0, first & (capacity - 1)
    while links[place] < tail:
        links[capacity + depth] = place
        depth += 1
        place = links[place] & (capacity - 1)
    copy_row(memory.nodes, place, out, k)
    for top in range(depth - 1, -1, -1):
        place = links[capacity + top]
        combine(memory.scalars[OP], memory.nodes, place, out, k, out, k)
        copy_row(out, k, memory.nodes, place)
        links[place] = tail
    count(memory, depth)


@compile_in_place
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps: partials from rows, answers into out. `advance` of stream.py shows an example."""
    run_steps(insert, query, memory, steps, rows, out)
