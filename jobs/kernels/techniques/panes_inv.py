"""Panes (Inv), subtract on evict: one running aggregate per range; what leaves the window is taken back."""

from __future__ import annotations

from numba import njit

from jobs.kernels.arrays import Ints, Words
from jobs.kernels.machine import exact_sums as exact
from jobs.kernels.machine.clock import Steps
from jobs.kernels.machine.loop import take
from jobs.kernels.machine.memory import OLDEST, OP, Memory, allocate, count, store


def make(op: int, ranges: Ints, lane: Ints, capacity: int) -> Memory:
    """An accumulator for each range."""
    return allocate(op, ranges, lane, capacity, 0, exact.COLUMNS)


@njit(cache=True)
def _evict(memory: Memory, lane: int, first: int) -> None:
    acc, mask = memory.lanes[lane], len(memory.rows) - 1
    for s in range(acc[exact.FIRST], first):
        exact.accumulate(memory.scalars[OP], acc, memory.rows, s & mask, exact.TAKE_BACK)
        count(memory, 1)
    acc[exact.FIRST] = max(acc[exact.FIRST], first)


@njit(cache=True)
def insert(memory: Memory, rows: Words, i: int) -> None:
    """Take back what is about to be forgotten, then add the partial to every range."""
    for lane in range(len(memory.lanes)):
        _evict(memory, lane, memory.scalars[OLDEST])
        exact.accumulate(memory.scalars[OP], memory.lanes[lane], rows, i, exact.ADD)
    count(memory, len(memory.lanes))
    store(memory, rows, i)


@njit(cache=True)
def query(memory: Memory, lane: int, first: int, out: Words, k: int) -> None:
    """Take back what has left the window; what remains is the answer."""
    _evict(memory, lane, first)
    exact.read(memory.scalars[OP], memory.lanes[lane], out, k)


@njit(cache=True)
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps: partials from rows, answers into out."""
    take(insert, query, memory, steps, rows, out)
