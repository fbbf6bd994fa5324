"""SlickDeque (Non-Inv): a deque of the partials that no later one outdoes; its head answers the longest range."""

from __future__ import annotations

from jobs.kernels.algebra.operators import VALID, clear_row, copy_row
from jobs.kernels.arrays import Ints, Words, compile_in_place
from jobs.kernels.machine.clock import Steps
from jobs.kernels.machine.contract import run_steps
from jobs.kernels.machine.memory import (
    CURSOR,
    CURSOR_FIRST,
    DEQUE_HEAD,
    DEQUE_TAIL,
    LOOKUPS,
    OLDEST,
    OP,
    TAIL,
    Memory,
    allocate,
    count,
    grow,
    selects_right,
)


def make(op: int, ranges: Ints, slot_of_query: Ints, capacity: int) -> Memory:
    """Return an empty deque: the rows are its nodes, the links their positions in the stream.

    >>> import numpy as np
    >>> memory = make(5, np.array([3, 9]), np.array([0, 1]), 8)
    >>> memory.rows.shape, memory.links.shape
    ((8, 4), (16,))
    """
    return allocate(op, ranges, slot_of_query, capacity, 0, 0)


def widen(memory: Memory) -> Memory:
    """Return the memory with twice the room for the nodes of the deque.

    >>> import numpy as np
    >>> len(widen(make(5, np.array([3]), np.array([0]), 4)).rows)
    8
    """
    return grow(memory, memory.scalars[DEQUE_HEAD], memory.scalars[DEQUE_TAIL])


@compile_in_place
def _push(memory: Memory, rows: Words, i: int) -> None:
    """Drop from the tail what the new partial outdoes, then add it."""
    op, scalars, mask = memory.scalars[OP], memory.scalars, len(memory.rows) - 1
    while scalars[DEQUE_TAIL] > scalars[DEQUE_HEAD]:
        count(memory, 1)
        if not selects_right(op, memory.rows, (scalars[DEQUE_TAIL] - 1) & mask, rows, i):
            break
        scalars[DEQUE_TAIL] -= 1
    place = scalars[DEQUE_TAIL] & mask
    copy_row(rows, i, memory.rows, place)
    memory.links[place] = scalars[TAIL]
    scalars[DEQUE_TAIL] += 1


@compile_in_place
def insert(memory: Memory, rows: Words, i: int) -> None:
    """Drop the expired head, then let the partial in; a null never answers anything. `query` shows an example."""
    scalars, mask = memory.scalars, len(memory.rows) - 1
    while scalars[DEQUE_HEAD] < scalars[DEQUE_TAIL] and memory.links[scalars[DEQUE_HEAD] & mask] < scalars[OLDEST]:
        scalars[DEQUE_HEAD] += 1
    if rows[i, VALID] != 0:
        _push(memory, rows, i)
    scalars[TAIL] += 1
    scalars[CURSOR] = scalars[DEQUE_HEAD]
    scalars[CURSOR_FIRST] = 0


@compile_in_place
def query(memory: Memory, _: int, first: int, out: Words, k: int) -> None:
    """Answer by the first node inside the window. Ranges come from the longest to the shortest: one walk serves all.

    >>> import numpy as np
    >>> memory, rows = make(5, np.array([3]), np.array([0]), 4), np.array([[5, 0, 0, 1], [7, 0, 0, 1], [6, 0, 0, 1]])
    >>> for i in range(3):
    ...     insert(memory, rows, i)
    >>> query(memory, 0, 1, rows, 0)  # MAX of 7 and 6
    >>> rows[0].tolist()
    [7, 0, 0, 1]
    """
    scalars, mask = memory.scalars, len(memory.rows) - 1
    cursor = scalars[CURSOR] if first >= scalars[CURSOR_FIRST] else scalars[DEQUE_HEAD]
    begin = cursor
    while cursor < scalars[DEQUE_TAIL] and memory.links[cursor & mask] < first:
        cursor += 1
    if cursor < scalars[DEQUE_TAIL]:
        copy_row(memory.rows, cursor & mask, out, k)
    else:
        clear_row(out, k)
    scalars[LOOKUPS] += 1 + cursor - begin
    scalars[CURSOR] = cursor
    scalars[CURSOR_FIRST] = first


@compile_in_place
def advance(memory: Memory, steps: Steps, rows: Words, out: Words) -> None:
    """Take the steps: partials from rows, answers into out. `advance` of stream.py shows an example."""
    run_steps(insert, query, memory, steps, rows, out)
