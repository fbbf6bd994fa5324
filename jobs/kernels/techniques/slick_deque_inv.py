"""SlickDeque (Inv): every partial updates the answer of every range at once, plus the new, minus the expired.

The answers map of the paper is an accumulator for each range; the links are the slices' starts. A query evicts, too:
after a gap, partials may have expired since the latest came in.
"""

from __future__ import annotations

from jobs.kernels.arrays import Words, compile_in_place
from jobs.kernels.machine.clock import Steps
from jobs.kernels.machine.contract import run_steps
from jobs.kernels.machine.exact_sums import ADD, FIRST, accumulate, evict, query
from jobs.kernels.machine.exact_sums import make_accumulators as make
from jobs.kernels.machine.memory import OLDEST, OP, START, TAIL, Memory, count, store

__all__ = ["advance", "insert", "make", "query"]


@compile_in_place
def _first_alive(memory: Memory, slot: int, start: int) -> int:
    """Find the first partial that shares a window of the slot's range with a slice that begins at `start`."""
    mask, first = len(memory.rows) - 1, max(memory.slots[slot, FIRST], memory.scalars[OLDEST])
    while first < memory.scalars[TAIL] and memory.links[first & mask] <= start - memory.ranges[slot]:
        first += 1
    return int(first)


@compile_in_place
def insert(memory: Memory, rows: Words, i: int) -> None:
    """Update the answer of every range: answer + new - expired.

    >>> import numpy as np
    >>> memory, rows = make(1, np.array([3]), np.array([0]), 4), np.array([[0, 5, 0, 1], [0, 7, 0, 1]])
    >>> for i in range(2):
    ...     insert(memory, rows, i)
    >>> query(memory, 0, 0, rows, 0)  # SUM of 5 and 7
    >>> rows[0].tolist()
    [0, 12, 0, 1]
    """
    start = memory.scalars[START]
    for slot in range(len(memory.slots)):
        accumulate(memory.scalars[OP], memory.slots[slot], rows, i, ADD)
        evict(memory, slot, _first_alive(memory, slot, start))
    count(memory, len(memory.slots))
    store(memory, rows, i)
    memory.links[(memory.scalars[TAIL] - 1) & (len(memory.rows) - 1)] = start


@compile_in_place
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps: partials from rows, answers into out. `advance` of stream.py shows an example."""
    run_steps(insert, query, memory, steps, rows, out)
