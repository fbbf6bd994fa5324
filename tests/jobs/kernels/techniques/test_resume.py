"""Stopped after any partial, turned into bytes, resumed in another process: the same bits."""

from __future__ import annotations

import base64
import json
import subprocess
import sys

import numpy as np
import pytest

from jobs.kernels import KERNELS
from jobs.kernels.algebra.operators import OPS, lift
from jobs.kernels.techniques.stream import advance, from_bytes, make, operations, to_bytes
from optimizer.algebra.techniques import allowed
from optimizer.windows.window import Window

WINDOWS = [Window(7, 2), Window(50, 5, 3), Window(200, 25)]
COMPONENTS = ("sum", "max", "moments")
CASES = [(technique, component) for technique in KERNELS for component in COMPONENTS if allowed(technique, component)]

RESUME = """
import base64, json, sys
import numpy as np
from jobs.kernels.techniques.stream import advance, from_bytes, to_bytes

for line in sys.stdin:
    state, starts, rows = (base64.b64decode(part) for part in json.loads(line))
    starts, rows = np.frombuffer(starts, np.int64), np.frombuffer(rows).reshape(-1, 4)
    state, answers = advance(from_bytes(state), starts, rows, until=int(starts[-1]) + 300)
    done = (to_bytes(state), answers.query.tobytes(), answers.start.tobytes(), answers.rows.tobytes())
    print(json.dumps([base64.b64encode(part).decode() for part in done]))
"""


def stream(component: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    starts = np.sort(rng.choice(np.arange(900), 400, replace=False))
    values = rng.normal(size=400) * 10.0 ** rng.integers(-12, 13, 400)
    return starts, lift(OPS[component, "float64"], values, rng.random(400) > 0.1)


@pytest.mark.slow
def test_another_process_goes_on_with_the_same_bits() -> None:
    lines, wanted = [], []
    for technique, component in CASES:
        starts, rows = stream(component)
        for cut in (1, 173, 399):
            state, _ = advance(make(technique, WINDOWS, component), starts[:cut], rows[:cut])
            parts = (to_bytes(state), starts[cut:].tobytes(), rows[cut:].tobytes())
            lines.append(json.dumps([base64.b64encode(part).decode() for part in parts]))
            state, answers = advance(state, starts[cut:], rows[cut:], until=int(starts[-1]) + 300)
            wanted.append((to_bytes(state), *(column.tobytes() for column in answers[:3])))
    done = subprocess.run(
        [sys.executable, "-c", RESUME], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    for line, want in zip(done.stdout.splitlines(), wanted, strict=True):
        assert tuple(base64.b64decode(part) for part in json.loads(line)) == want


@pytest.mark.parametrize(("technique", "component"), CASES)
def test_bytes_after_every_partial(technique: str, component: str) -> None:
    starts, rows = stream(component)
    whole, answers = advance(make(technique, WINDOWS, component), starts, rows)
    state, bits = make(technique, WINDOWS, component), []
    for i in range(len(starts)):
        state, some = advance(from_bytes(to_bytes(state)), starts[i : i + 1], rows[i : i + 1])
        bits.append(some.rows.tobytes())
    assert b"".join(bits) == answers.rows.tobytes()
    assert operations(state) == operations(whole)


def test_other_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="not a kernel's state"):
        from_bytes(b'{"format": "something else"}\n')


def test_slices_out_of_order_are_refused() -> None:
    _, rows = stream("sum")
    with pytest.raises(ValueError, match="must rise"):
        advance(make("panes", WINDOWS, "sum"), np.array([3, 2]), rows[:2])
