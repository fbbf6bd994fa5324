"""What every kernel is: closed partials of a tree in, in slice order; the windows that end out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from jobs.kernels.arrays import Ints, Rows, Words
from jobs.kernels.machine.clock import Clock, Steps
from jobs.kernels.machine.memory import Memory, widen


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
