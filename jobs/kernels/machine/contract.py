"""What every kernel is: closed partials of a tree in, in slice order; the windows that end out.

All techniques share one loop, each with its own `insert` and `query`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from numba import njit

from jobs.kernels.arrays import ZERO, Ints, Rows, Words
from jobs.kernels.machine.clock import INSERT, RESET, Clock, Steps
from jobs.kernels.machine.memory import Memory, begin_slide, reset, widen

Insert = Callable[[Memory, Words, int], None]  # memory, partials, which of them comes in
Query = Callable[[Memory, int, int, Words, int], None]  # memory, slot, first partial, answers, which of them it is


@dataclass(frozen=True)
class Kernel:
    """One technique as three functions.

    `make` returns an empty memory (op code, distinct ranges, slot of each query, capacity), `advance` takes the steps
    (memory, steps, partials, answers), and `widen` returns the memory with twice the room.
    """

    make: Callable[[int, Ints, Ints, int], Memory]
    advance: Callable[[Memory, Steps, Words, Words], None]
    widen: Callable[[Memory], Memory] = widen


class State(NamedTuple):
    """A kernel between two batches: what it needs to go on."""

    technique: str
    clock: Clock
    memory: Memory


class Answers(NamedTuple):
    """The windows that ended, by end, then the longest first; `operators.lower` turns their rows into values."""

    query: Ints
    start: Ints
    rows: Rows
    group: Ints


class Operations(NamedTuple):
    """Combine operations: all, the most of any slide (from one partial to the next), and the number of slides.

    Look-ups are counted beside them: SlickDeque's answers read a node and pass others, and combine nothing.
    """

    total: int
    worst: int
    slides: int
    lookups: int = 0

    @property
    def estimated(self) -> int:
        """What Omega estimates: combine operations and look-ups together.

        >>> Operations(total=15, worst=3, slides=8, lookups=16).estimated
        31
        """
        return self.total + self.lookups


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
