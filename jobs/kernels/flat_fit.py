"""FlatFIT: each place holds the aggregate up to where its pointer leads; a window's walk shortens the ways it took."""

from __future__ import annotations

from numba import njit

from jobs.kernels.clock import INSERT, RESET, Steps
from jobs.kernels.memory import OP, TAIL, Ints, Memory, allocate, begin_slide, count, reset, store
from jobs.kernels.operators import copy_row
from jobs.kernels.words import Words, combine


@njit(cache=True)
def make(op: int, ranges: Ints, lane: Ints, capacity: int) -> Memory:
    """One layer of nodes; the first half of the links are the pointers, the second is the stack of positions."""
    return allocate(op, ranges, lane, capacity, 1, 0)


@njit(cache=True)
def insert(memory: Memory, rows: Words, i: int) -> Memory:
    """The newest place holds the partial alone and leads to the next."""
    memory = store(memory, rows, i)
    tail = memory.scalars[TAIL]
    place = (tail - 1) & (len(memory.rows) - 1)
    copy_row(rows, i, memory.nodes, place)
    memory.links[place] = tail
    return memory


@njit(cache=True)
def query(memory: Memory, first: int, out: Words, k: int) -> None:
    """Follow the pointers to the newest partial, then fold back, and let every visited place lead there at once."""
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


@njit(cache=True)
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> Memory:
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
