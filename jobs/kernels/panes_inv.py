"""Panes (Inv), subtract on evict: one running aggregate per range; what leaves the window is taken back."""

from __future__ import annotations

from numba import njit

from jobs.kernels import exact
from jobs.kernels.clock import INSERT, RESET, Steps
from jobs.kernels.memory import OLDEST, OP, Ints, Memory, allocate, begin_slide, count, reset, store
from jobs.kernels.words import Words


@njit(cache=True)
def make(op: int, ranges: Ints, lane: Ints, capacity: int) -> Memory:
    """An accumulator for each range."""
    return allocate(op, ranges, lane, capacity, 0, exact.COLUMNS)


@njit(cache=True)
def _evict(memory: Memory, lane: int, first: int) -> None:
    acc, mask = memory.lanes[lane], len(memory.rows) - 1
    for s in range(acc[exact.FIRST], first):
        exact.accumulate(memory.scalars[OP], acc, memory.rows, s & mask, -1)
        count(memory, 1)
    acc[exact.FIRST] = max(acc[exact.FIRST], first)


@njit(cache=True)
def insert(memory: Memory, rows: Words, i: int) -> Memory:
    """Take back what is about to be forgotten, then add the partial to every range."""
    for lane in range(len(memory.lanes)):
        _evict(memory, lane, memory.scalars[OLDEST])
        exact.accumulate(memory.scalars[OP], memory.lanes[lane], rows, i, 1)
    count(memory, len(memory.lanes))
    return store(memory, rows, i)


@njit(cache=True)
def query(memory: Memory, lane: int, first: int, out: Words, k: int) -> None:
    """Take back what has left the window; what remains is the answer."""
    _evict(memory, lane, first)
    exact.read(memory.scalars[OP], memory.lanes[lane], out, k)


@njit(cache=True)
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> Memory:
    """Take the steps: partials from rows, answers into out."""
    i = k = 0
    for step in range(len(steps.query)):
        q = steps.query[step]
        if q == INSERT:
            begin_slide(memory, steps.first[step])
            memory = insert(memory, rows, i)
            i += 1
        elif q == RESET:
            reset(memory)
        else:
            query(memory, memory.lane[q], steps.first[step], out, k)
            k += 1
    return memory
