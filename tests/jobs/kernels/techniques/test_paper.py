"""The papers' running example, step by step: 6, 5, 0, 1, 3, 4, 2, 7 with the ranges 3 and 5."""

from __future__ import annotations

import numpy as np
import pytest

from jobs.kernels import KERNELS
from jobs.kernels.algebra.operators import OPS, lift, lower
from jobs.kernels.techniques.stream import advance, make
from optimizer.algebra.techniques import allowed
from optimizer.windows.window import Window

STREAM = [6, 5, 0, 1, 3, 4, 2, 7]
STEPS = {  # (answer of range 3, answer of range 5) after every value
    "sum": [(6, 6), (11, 11), (11, 11), (6, 12), (4, 15), (8, 13), (9, 10), (13, 17)],
    "max": [(6, 6), (6, 6), (6, 6), (5, 6), (3, 6), (4, 5), (4, 4), (7, 7)],
}


@pytest.mark.parametrize("kind", ["int64", "float64"])
@pytest.mark.parametrize("component", STEPS)
@pytest.mark.parametrize("technique", KERNELS)
def test_every_step_of_the_example(technique: str, component: str, kind: str) -> None:
    if not allowed(technique, component):
        return
    op = OPS[component, kind]
    state = make(technique, [Window(3, 1), Window(5, 1)], component, kind)
    for time, value in enumerate(STREAM):
        rows = lift(op, np.array([value], kind))
        state, answers = advance(state, np.array([time]), rows, until=time + 1)
        found = dict(zip(answers.query.tolist(), lower(op, answers.rows)[0].tolist(), strict=True))
        assert (found[0], found[1]) == STEPS[component][time]
