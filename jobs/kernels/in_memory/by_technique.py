"""One in-memory column through a technique as its paper writes it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jobs.kernels.algebra.finish import Part
from jobs.kernels.algebra.operators import MOMENTS, lift, lower
from jobs.kernels.arrays import Rows
from jobs.kernels.in_memory.components import Input
from jobs.kernels.techniques.stream import run
from optimizer.errors import HeddleError
from optimizer.windows.window import Window


def fold_literally(given: Input, windows: Sequence[Window], kernel: str) -> list[Part]:
    """The fold of every full window by the named technique, a part per window."""
    ticks = np.arange(len(given.values))
    ends = np.array([0, len(ticks)])
    distinct = sorted(set(windows))
    rows = lift(given.op, given.values, given.valid)
    answers = run(kernel, distinct, given.component, ends, ticks, rows, len(ticks), -1)
    full = np.flatnonzero(answers.start >= 0)
    by_query = full[np.argsort(answers.query[full], kind="stable")]
    bounds = np.searchsorted(answers.query[by_query], np.arange(1, len(distinct)))
    parts = {
        window: _part(given.op, answers.rows[held])
        for window, held in zip(distinct, np.split(by_query, bounds), strict=True)
    }
    return [parts[window] for window in windows]


def _part(op: int, rows: Rows) -> Part:
    values, valid, overflow = lower(op, rows)
    if overflow.any():
        raise HeddleError("sum: a window's sum does not fit into int64; give the values as float64")
    return Part(tuple(rows.T[:3]) if op == MOMENTS else (values,), valid)
