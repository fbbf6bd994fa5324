"""SlickDeque (Inv) as it is printed: a plain float for every range, plus the new, minus the expired.

No part of the engine: a spike or NaN leaves its rounding behind for good. It shows what the exact accumulator costs.
"""

from __future__ import annotations

from jobs.kernels.algebra.operators import VALID
from jobs.kernels.arrays import Ints, Words, compile_in_place
from jobs.kernels.fdlibm.words import bits_of, from_bits
from jobs.kernels.machine.clock import Steps
from jobs.kernels.machine.contract import Kernel, run_steps
from jobs.kernels.machine.memory import OLDEST, TAIL, Memory, allocate, store

FIRST, SUM = 0, 1  # of a slot: the first partial inside, and the bits of their sum


def make(op: int, ranges: Ints, slot_of_query: Ints, capacity: int) -> Memory:
    """Return an empty memory with a float for each range."""
    return allocate(op, ranges, slot_of_query, capacity, 0, 2)


@compile_in_place
def _evict(memory: Memory, slot: int, first: int) -> None:
    accumulator, mask = memory.slots[slot], len(memory.rows) - 1
    total = from_bits(accumulator[SUM])
    for s in range(accumulator[FIRST], first):
        total -= from_bits(memory.rows[s & mask, 0])
    accumulator[FIRST], accumulator[SUM] = max(accumulator[FIRST], first), bits_of(total)


@compile_in_place
def insert(memory: Memory, rows: Words, i: int) -> None:
    """Update the answer of every range: answer + new - expired. Slides are one event, so ranges count partials."""
    value, tail = from_bits(rows[i, 0]), memory.scalars[TAIL]
    for slot in range(len(memory.slots)):
        memory.slots[slot, SUM] = bits_of(from_bits(memory.slots[slot, SUM]) + value)
        _evict(memory, slot, max(memory.scalars[OLDEST], tail + 1 - memory.ranges[slot]))
    store(memory, rows, i)


@compile_in_place
def query(memory: Memory, slot: int, first: int, out: Words, k: int) -> None:
    """Take back what has left the window; what remains is the answer."""
    _evict(memory, slot, first)
    out[k, 0] = memory.slots[slot, SUM]
    out[k, 1] = out[k, 2] = 0
    out[k, VALID] = bits_of(1.0)


@compile_in_place
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps: partials from rows, answers into out."""
    run_steps(insert, query, memory, steps, rows, out)


KERNEL = Kernel(make, advance)
