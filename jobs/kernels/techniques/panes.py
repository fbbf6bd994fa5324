"""Panes, naive: every window folds all of its partials again."""

from __future__ import annotations

from numba import njit

from jobs.kernels.algebra.operators import copy_row
from jobs.kernels.arrays import Ints, Words
from jobs.kernels.machine.clock import Steps
from jobs.kernels.machine.loop import take
from jobs.kernels.machine.memory import OP, TAIL, Memory, allocate, count, store
from jobs.kernels.machine.words import combine


def make(op: int, ranges: Ints, lane: Ints, capacity: int) -> Memory:
    """An empty memory."""
    return allocate(op, ranges, lane, capacity, 0, 0)


@njit(cache=True)
def query(memory: Memory, _: int, first: int, out: Words, k: int) -> None:
    """Fold the partials from the first to the latest."""
    mask, tail = len(memory.rows) - 1, memory.scalars[TAIL]
    copy_row(memory.rows, first & mask, out, k)
    for s in range(first + 1, tail):
        combine(memory.scalars[OP], out, k, memory.rows, s & mask, out, k)
    count(memory, tail - first - 1)


@njit(cache=True)
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps: partials from rows, answers into out."""
    take(store, query, memory, steps, rows, out)
