"""The loop that all techniques share, each with its own `insert` and `query`."""

from __future__ import annotations

from collections.abc import Callable

from numba import njit

from jobs.kernels.arrays import ZERO, Words
from jobs.kernels.machine.clock import INSERT, RESET, Steps
from jobs.kernels.machine.memory import Memory, begin_slide, reset

Insert = Callable[[Memory, Words, int], None]  # memory, partials, which of them comes in
Query = Callable[[Memory, int, int, Words, int], None]  # memory, slot, first partial, answers, which of them it is


@njit(inline="always")
def run_steps(insert: Insert, query: Query, memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps in order: partials from rows, answers into out.

    It is inlined into every technique's `advance`, since numba keeps no function on disk that takes functions.

    `advance` of techniques/stream.py shows an example.
    """
    i = k = ZERO
    for step in range(len(steps.query)):
        q = steps.query[step]
        if q == INSERT:
            begin_slide(memory, steps.start[step], steps.first[step])
            insert(memory, rows, i)
            i += 1
        elif q == RESET:
            reset(memory)
        else:
            query(memory, memory.slot_of_query[q], steps.first[step], out, k)
            k += 1
