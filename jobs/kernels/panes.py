"""Panes, naive: every window folds all of its partials again."""

from __future__ import annotations

from numba import njit

from jobs.kernels.clock import INSERT, RESET, Steps
from jobs.kernels.memory import OP, TAIL, Ints, Memory, allocate, begin_slide, count, reset, store
from jobs.kernels.operators import copy_row
from jobs.kernels.words import Words, combine


@njit(cache=True)
def make(op: int, ranges: Ints, lane: Ints, capacity: int) -> Memory:
    """An empty memory."""
    return allocate(op, ranges, lane, capacity, 0, 0)


@njit(cache=True)
def insert(memory: Memory, rows: Words, i: int) -> Memory:
    """Keep the partial."""
    return store(memory, rows, i)


@njit(cache=True)
def query(memory: Memory, first: int, out: Words, k: int) -> None:
    """Fold the partials from the first to the latest."""
    mask, tail = len(memory.rows) - 1, memory.scalars[TAIL]
    copy_row(memory.rows, first & mask, out, k)
    for s in range(first + 1, tail):
        combine(memory.scalars[OP], out, k, memory.rows, s & mask, out, k)
    count(memory, tail - first - 1)


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
