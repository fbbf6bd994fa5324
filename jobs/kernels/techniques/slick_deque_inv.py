"""SlickDeque (Inv): every partial updates the answer of every range at once, plus the new, minus the expired."""

from __future__ import annotations

from numba import njit

from jobs.kernels.arrays import Ints, Words
from jobs.kernels.machine import exact_sums as exact
from jobs.kernels.machine.clock import Steps
from jobs.kernels.machine.loop import take
from jobs.kernels.machine.memory import OLDEST, OP, START, TAIL, Memory, allocate, count, store


def make(op: int, ranges: Ints, lane: Ints, capacity: int) -> Memory:
    """The answers map of the paper: an accumulator for each range; the links are the slices' starts."""
    return allocate(op, ranges, lane, capacity, 0, exact.COLUMNS)


@njit(cache=True)
def _evict(memory: Memory, lane: int, first: int) -> None:
    acc, mask = memory.lanes[lane], len(memory.rows) - 1
    for s in range(acc[exact.FIRST], first):
        exact.accumulate(memory.scalars[OP], acc, memory.rows, s & mask, exact.TAKE_BACK)
        count(memory, 1)
    acc[exact.FIRST] = max(acc[exact.FIRST], first)


@njit(cache=True)
def _expired(memory: Memory, lane: int, start: int) -> int:
    """The first partial that shares a window of the lane's range with a slice that begins at `start`."""
    mask, first = len(memory.rows) - 1, max(memory.lanes[lane, exact.FIRST], memory.scalars[OLDEST])
    while first < memory.scalars[TAIL] and memory.links[first & mask] <= start - memory.ranges[lane]:
        first += 1
    return int(first)


@njit(cache=True)
def insert(memory: Memory, rows: Words, i: int) -> None:
    """answer = answer + new - expired, for every range."""
    start = memory.scalars[START]
    for lane in range(len(memory.lanes)):
        exact.accumulate(memory.scalars[OP], memory.lanes[lane], rows, i, exact.ADD)
        _evict(memory, lane, _expired(memory, lane, start))
    count(memory, len(memory.lanes))
    store(memory, rows, i)
    memory.links[(memory.scalars[TAIL] - 1) & (len(memory.rows) - 1)] = start


@njit(cache=True)
def query(memory: Memory, lane: int, first: int, out: Words, k: int) -> None:
    """The range's answer; after a gap, partials may have expired since the latest came in."""
    _evict(memory, lane, first)
    exact.read(memory.scalars[OP], memory.lanes[lane], out, k)


@njit(cache=True)
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps: partials from rows, answers into out."""
    take(insert, query, memory, steps, rows, out)
