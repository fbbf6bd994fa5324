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
    """One technique: an empty memory (op code, distinct ranges, lane of each query, room), the steps it takes (memory,
    steps, partials, answers), and the same memory with twice the room."""

    make: Callable[[int, Ints, Ints, int], Memory]
    advance: Callable[[Memory, Steps, Words, Words], None]
    widen: Callable[[Memory], Memory] = widen


class State(NamedTuple):
    """A kernel at rest."""

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
    """Combine operations: all, the most of any slide (from one partial to the next), and the number of slides."""

    total: int
    worst: int
    slides: int
