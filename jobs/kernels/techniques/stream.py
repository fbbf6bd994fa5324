"""Partials through a kernel: one key batch by batch (`make`, `advance`), or many keys at once (`run`)."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from jobs.kernels.algebra.operators import OPS, WIDTH
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
from jobs.kernels.machine.memory import OPERATIONS, TAIL, WORST, Memory
from jobs.kernels.machine.words import FLOAT
from jobs.kernels.techniques import KERNELS
from optimizer.algebra.techniques import require_allowed
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING, Window

ROOM = 16  # partials that a new memory can hold; as many as its clock
FORMAT = "heddle kernel 2"  # the first line of a state as bytes


def make(
    technique: str,
    windows: Sequence[Window],
    component: str,
    kind: str = "float64",
    since: int = BEGINNING,
    capacity: int = ROOM,
) -> State:
    """A state that has seen nothing. It emits the windows that end after `since`, and grows beyond `capacity`."""
    room = 1 << max(1, (capacity - 1).bit_length())
    return State(technique, make_clock(windows, since, room), _memory(technique, windows, component, kind, room))


def advance(state: State, starts: Ints, rows: Rows, until: int | None = None) -> tuple[State, Answers]:
    """Take in a batch of partials and emit the windows that end up to `until`, at least up to the last slice's start.

    The arrays of the given state are used further: go on with the returned one.
    """
    if until is None:
        until = int(starts[-1]) if len(starts) else BEGINNING
    check_order(state.clock, starts, until)
    clock, steps = schedule(state.clock, _flat(starts), until)
    memory, answers = _take(state.technique, state.memory, steps, rows)
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
    """The windows that end in (since, until] of many groups, group g from the partials offsets[g] to offsets[g + 1]."""
    return run_counted(technique, windows, component, offsets, starts, rows, until, since)[0]


def run_counted(
    technique: str,
    windows: Sequence[Window],
    component: str,
    offsets: Ints,
    starts: Ints,
    rows: Rows,
    until: int,
    since: int = BEGINNING,
) -> tuple[Answers, Operations]:
    """The same, and how many combine operations it took."""
    steps = schedule_groups(make_clock(windows, BEGINNING, ROOM), offsets, _flat(starts), since, until)
    memory = _memory(technique, windows, component, str(rows.dtype), ROOM)
    memory, answers = _take(technique, memory, steps, rows)
    return answers, _counted(memory)


def operations(state: State) -> Operations:
    """How many combine operations the state has cost so far."""
    return _counted(state.memory)


def to_bytes(state: State) -> bytes:
    """The state, to be resumed by `from_bytes` in any process: little-endian int64, whatever the machine."""
    arrays = [*state.clock, *state.memory]
    header = {"format": FORMAT, "technique": state.technique, "shapes": [array.shape for array in arrays]}
    body = b"".join(array.astype("<i8", copy=False).tobytes() for array in arrays)
    return json.dumps(header).encode() + b"\n" + body


def from_bytes(data: bytes) -> State:
    """The state that was turned into bytes."""
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


def _counted(memory: Memory) -> Operations:
    scalars = memory.scalars
    return Operations(int(scalars[OPERATIONS]), int(scalars[WORST]), int(scalars[TAIL]))


def _memory(technique: str, windows: Sequence[Window], component: str, kind: str, capacity: int) -> Memory:
    require_allowed(technique, component)
    if (component, kind) not in OPS:
        kinds = " or ".join(known for name, known in OPS if name == component)
        raise HeddleError(f"component {component} has no partials of {kind}; give {kinds}")
    ranges, lane = np.unique([window.range for window in windows], return_inverse=True)
    op = OPS[component, kind] | (FLOAT if kind == "float64" else 0)
    return KERNELS[technique].make(op, ranges.astype(np.int64), lane.astype(np.int64), capacity)


def _flat(column: Ints) -> Ints:
    """A column as the kernels are compiled for; one that cannot be written to would be compiled for anew."""
    return np.require(column, np.int64, ["C", "W"])


def _take(technique: str, memory: Memory, steps: Steps, rows: Rows) -> tuple[Memory, Answers]:
    ended = steps.query >= 0
    out = np.empty((int(ended.sum()), WIDTH), rows.dtype)
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
