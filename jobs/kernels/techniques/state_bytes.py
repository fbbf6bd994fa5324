"""A kernel's state as bytes: a line of JSON that says what follows, then the raw arrays."""

from __future__ import annotations

import json

import numpy as np

from jobs.kernels.machine.clock import Clock
from jobs.kernels.machine.contract import State
from jobs.kernels.machine.memory import Memory

FORMAT = "heddle kernel 2"


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
