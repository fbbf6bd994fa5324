"""Panes, naive: every window folds all of its partials again."""

from __future__ import annotations

from jobs.kernels.algebra.operators import copy_row
from jobs.kernels.arrays import Ints, Words, compile_in_place
from jobs.kernels.machine.clock import Steps
from jobs.kernels.machine.contract import run_steps
from jobs.kernels.machine.memory import OP, TAIL, Memory, allocate, combine, count, store


def make(op: int, ranges: Ints, slot_of_query: Ints, capacity: int) -> Memory:
    """Return an empty memory: the ring of partials, and nothing else.

    >>> import numpy as np
    >>> memory = make(5, np.array([3, 9]), np.array([0, 1]), 8)
    >>> memory.nodes.shape, memory.slots.shape
    ((0, 4), (2, 0))
    """
    return allocate(op, ranges, slot_of_query, capacity, 0, 0)


@compile_in_place
def query(memory: Memory, _: int, first: int, out: Words, k: int) -> None:
    """Fold the partials from the first to the latest.

    >>> import numpy as np
    >>> memory, rows = make(5, np.array([3]), np.array([0]), 4), np.array([[5, 0, 0, 1], [7, 0, 0, 1], [6, 0, 0, 1]])
    >>> for i in range(3):
    ...     store(memory, rows, i)
    >>> query(memory, 0, 1, rows, 0)  # MAX of 7 and 6
    >>> rows[0].tolist()
    [7, 0, 0, 1]
    """
    mask, tail = len(memory.rows) - 1, memory.scalars[TAIL]
    copy_row(memory.rows, first & mask, out, k)
    for s in range(first + 1, tail):
        combine(memory.scalars[OP], out, k, memory.rows, s & mask, out, k)
    count(memory, tail - first - 1)


@compile_in_place
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps: partials from rows, answers into out. `advance` of stream.py shows an example."""
    run_steps(store, query, memory, steps, rows, out)
