"""One in-memory column through a technique as its paper writes it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jobs.kernels.finish import Part
from jobs.kernels.inputs import Input
from jobs.kernels.operators import MOMENTS, lift, lower
from jobs.kernels.stream import run
from optimizer.errors import HeddleError
from optimizer.windows.window import Window


def fold_literally(given: Input, windows: Sequence[Window], kernel: str) -> list[Part]:
    """The fold of every full window by the named technique, a part per window."""
    ticks = np.arange(len(given.values))
    ends = np.array([0, len(ticks)])
    distinct = sorted(set(windows))
    rows = lift(given.op, given.values, given.valid)
    answers = run(kernel, distinct, given.component, ends, ticks, rows, len(ticks), -1)
    parts: dict[Window, Part] = {}
    for query, window in enumerate(distinct):
        full = (answers.query == query) & (answers.start >= 0)
        values, valid, overflow = lower(given.op, answers.rows[full])
        if overflow.any():
            raise HeddleError("sum: a window's sum does not fit into int64; give the values as float64")
        columns = tuple(answers.rows[full].T[:3]) if given.op == MOMENTS else (values,)
        parts[window] = Part(columns, valid)
    return [parts[window] for window in windows]
