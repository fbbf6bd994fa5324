"""Panes (Inv), subtract on evict: one running aggregate per range; what leaves the window is taken back."""

from __future__ import annotations

from jobs.kernels.arrays import Words, compile_in_place
from jobs.kernels.machine.clock import Steps
from jobs.kernels.machine.contract import run_steps
from jobs.kernels.machine.exact_sums import ADD, accumulate, evict, query
from jobs.kernels.machine.exact_sums import make_accumulators as make
from jobs.kernels.machine.memory import OLDEST, OP, Memory, count, store

__all__ = ["advance", "insert", "make", "query"]


@compile_in_place
def insert(memory: Memory, rows: Words, i: int) -> None:
    """Take back what is about to be forgotten, then add the partial to every range.

    >>> import numpy as np
    >>> memory, rows = make(1, np.array([3]), np.array([0]), 4), np.array([[0, 5, 0, 1], [0, 7, 0, 1]])
    >>> for i in range(2):
    ...     insert(memory, rows, i)
    >>> query(memory, 0, 0, rows, 0)  # SUM of 5 and 7
    >>> rows[0].tolist()
    [0, 12, 0, 1]
    """
    for slot in range(len(memory.slots)):
        evict(memory, slot, memory.scalars[OLDEST])
        accumulate(memory.scalars[OP], memory.slots[slot], rows, i, ADD)
    count(memory, len(memory.slots))
    store(memory, rows, i)


@compile_in_place
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps: partials from rows, answers into out. `advance` of stream.py shows an example."""
    run_steps(insert, query, memory, steps, rows, out)
