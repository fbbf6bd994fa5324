"""Partials through a kernel: one key batch by batch (`make`, `advance`), or many keys at once (`run`).

Between two batches a kernel's state can be turned into bytes: a line of JSON that says what follows, then raw arrays.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from jobs.kernels.algebra.operators import OPS
from jobs.kernels.arrays import Ints, Rows
from jobs.kernels.machine.clock import (
    GROW,
    INSERT,
    Clock,
    Steps,
    check_order,
    make_clock,
    schedule,
    schedule_groups,
)
from jobs.kernels.machine.contract import Answers, Operations, State
from jobs.kernels.machine.memory import FLOAT, LOOKUPS, OPERATIONS, TAIL, WORST, Memory
from jobs.kernels.techniques import KERNELS
from optimizer.algebra.techniques import require_allowed
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING, Window

ROOM = 16  # partials that a new memory can hold; as many as its clock
FORMAT = "heddle kernel 4"  # the first line of a state as bytes


def make(
    technique: str,
    windows: Sequence[Window],
    component: str,
    kind: str = "float64",
    since: int = BEGINNING,
    capacity: int = ROOM,
) -> State:
    """Return a state that no partial has come into. It emits the windows that end after `since`, and grows on demand.

    >>> state = make("daba", [Window(3, 1)], "max")
    >>> state.technique, state.memory.rows.shape
    ('daba', (16, 4))
    """
    room = 1 << max(1, (capacity - 1).bit_length())
    return State(technique, make_clock(windows, since, room), _memory(technique, windows, component, kind, room))


def advance(state: State, starts: Ints, rows: Rows, until: int | None = None) -> tuple[State, Answers]:
    """Take in a batch of partials and emit the windows that end up to `until`, at least up to the last slice's start.

    The arrays of the old state are used further: go on with the returned one.

    >>> from jobs.kernels.algebra.operators import MAX, lift
    >>> rows = lift(MAX, np.array([4.0, 1.0, 2.0, 3.0]))
    >>> state = make("slick_deque_noninv", [Window(2, 1)], "max")
    >>> state, answers = advance(state, np.arange(4), rows, until=4)
    >>> answers.start.tolist(), answers.rows[:, 0].tolist()
    ([-1, 0, 1, 2], [4.0, 4.0, 2.0, 3.0])
    """
    if until is None:
        until = int(starts[-1]) if len(starts) else BEGINNING
    check_order(state.clock, starts, until)
    clock, steps = schedule(state.clock, _as_compiled(starts), until)
    memory, answers = _run_steps(state.technique, state.memory, steps, rows)
    return State(state.technique, clock, memory), answers


def run(
    technique: str,
    windows: Sequence[Window],
    component: str,
    offsets: Ints,
    starts: Ints,
    rows: Rows,
    until: int,
    since: int = BEGINNING,
) -> Answers:
    """Return the windows that end in (since, until] of many groups; group g has the partials offsets[g]..[g + 1].

    >>> from jobs.kernels.algebra.operators import MAX, lift
    >>> rows, starts = lift(MAX, np.array([4.0, 1.0, 2.0])), np.array([0, 1, 0])
    >>> answers = run("panes", [Window(2, 2)], "max", np.array([0, 2, 3]), starts, rows, until=2)
    >>> answers.group.tolist(), answers.rows[:, 0].tolist()
    ([0, 1], [4.0, 2.0])
    """
    return run_and_count(technique, windows, component, offsets, starts, rows, until, since)[0]


def run_and_count(
    technique: str,
    windows: Sequence[Window],
    component: str,
    offsets: Ints,
    starts: Ints,
    rows: Rows,
    until: int,
    since: int = BEGINNING,
) -> tuple[Answers, Operations]:
    """Return what `run` does, and how many combine operations it took.

    >>> from jobs.kernels.algebra.operators import MAX, lift
    >>> rows = lift(MAX, np.array([4.0, 1.0, 2.0, 3.0]))
    >>> windows, offsets, starts = [Window(4, 4)], np.array([0, 4]), np.arange(4)
    >>> run_and_count("panes", windows, "max", offsets, starts, rows, until=4)[1]
    Operations(total=3, worst=3, slides=4, lookups=0)
    """
    steps = schedule_groups(make_clock(windows, BEGINNING, ROOM), offsets, _as_compiled(starts), since, until)
    memory = _memory(technique, windows, component, str(rows.dtype), ROOM)
    memory, answers = _run_steps(technique, memory, steps, rows)
    return answers, _operations(memory)


def operations(state: State) -> Operations:
    """Return how many combine operations the state has cost so far.

    >>> operations(make("panes", [Window(3, 1)], "max"))
    Operations(total=0, worst=0, slides=0, lookups=0)
    """
    return _operations(state.memory)


def to_bytes(state: State) -> bytes:
    """Turn the state into bytes that any process can resume from: little-endian int64, whatever the machine.

    >>> to_bytes(make("panes", [Window(3, 1)], "max"))[:53]
    b'{"format": "heddle kernel 4", "technique": "panes", "'
    """
    arrays = [*state.clock, *state.memory]
    header = {"format": FORMAT, "technique": state.technique, "shapes": [array.shape for array in arrays]}
    body = b"".join(array.astype("<i8", copy=False).tobytes() for array in arrays)
    return json.dumps(header).encode() + b"\n" + body


def from_bytes(data: bytes) -> State:
    """Return the state that was turned into bytes.

    >>> from_bytes(to_bytes(make("panes", [Window(3, 1)], "max"))).technique
    'panes'
    """
    line, _, body = data.partition(b"\n")
    header = json.loads(line)
    if header["format"] != FORMAT:
        raise ValueError(f"not a kernel's state: {header['format']}")
    words, arrays = np.frombuffer(body, "<i8").astype(np.int64), []
    for shape in header["shapes"]:
        size = int(np.prod(shape))
        arrays.append(words[:size].reshape(shape).copy())
        words = words[size:]
    fields = len(Clock._fields)
    return State(header["technique"], Clock(*arrays[:fields]), Memory(*arrays[fields:]))


def _operations(memory: Memory) -> Operations:
    scalars = memory.scalars
    return Operations(int(scalars[OPERATIONS]), int(scalars[WORST]), int(scalars[TAIL]), int(scalars[LOOKUPS]))


def _memory(technique: str, windows: Sequence[Window], component: str, kind: str, capacity: int) -> Memory:
    require_allowed(technique, component)
    if (component, kind) not in OPS:
        kinds = " or ".join(one for name, one in OPS if name == component)
        raise HeddleError(f"component {component} has no partials of {kind}; give {kinds}")
    ranges, slot_of_query = np.unique([window.range for window in windows], return_inverse=True)
    op = OPS[component, kind] | (FLOAT if kind == "float64" else 0)
    return KERNELS[technique].make(op, ranges.astype(np.int64), slot_of_query.astype(np.int64), capacity)


def _as_compiled(column: Ints) -> Ints:
    """Return the column as kernels are compiled for: one that may not be written to would be compiled for anew."""
    return np.require(column, np.int64, ["C", "W"])


def _run_steps(technique: str, memory: Memory, steps: Steps, rows: Rows) -> tuple[Memory, Answers]:
    ended = steps.query >= 0
    out = np.empty((int(ended.sum()), rows.shape[1]), rows.dtype)
    words, kernel = np.require(rows, requirements=["C", "W"]).view(np.int64), KERNELS[technique]
    low = inserts = answers = 0
    for grow in np.flatnonzero(steps.query == GROW).tolist():
        kernel.advance(memory, _between(steps, low, grow), words[inserts:], out[answers:].view(np.int64))
        memory = kernel.widen(memory)
        inserts += int((steps.query[low:grow] == INSERT).sum())
        answers += int(ended[low:grow].sum())
        low = grow + 1
    kernel.advance(memory, _between(steps, low, len(ended)), words[inserts:], out[answers:].view(np.int64))
    return memory, Answers(steps.query[ended], steps.start[ended], out, steps.group[ended])


def _between(steps: Steps, low: int, high: int) -> Steps:
    return Steps(*(column[low:high] for column in steps))
