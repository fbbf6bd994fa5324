"""What every batch reads, folds into chunks, loads and saves of the levels of a tree, in ticks of its clock.

A tick belongs to a slice or chunk of a level, so that ticks of a level, times its slices or chunks per tick, are rows.
jobs/engine/finals/chunks.py does what is counted here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.plan.batches import Step
from optimizer.plan.cover import Span, cover_windows
from optimizer.plan.levels import Level
from optimizer.windows.columns import FloatArray, IntArray

FAR = 8  # ranges before the first event that a stream's first batch begins at


@dataclass(frozen=True, eq=False)
class Handled:
    """What a batch does with the levels of a tree: the spans it reads, and ticks by level."""

    step: Step
    spans: FloatArray  # three columns: from, to, level; those of no level overlap
    folded: FloatArray  # into chunks of the next level
    loaded: FloatArray
    saved: FloatArray

    def read(self, rates: FloatArray) -> float:
        """Return the rows that are read for the windows that end, at so many rows per tick of every level."""
        low, high, level = self.spans.T
        return float((high - low) @ rates[level.astype(np.int64)])

    @property
    def low(self) -> float:
        """The first time that is read; where nothing is, the end of the batch."""
        return float(self.spans[:, 0].min(initial=np.inf)) if len(self.spans) else self.high

    @property
    def high(self) -> float:
        """The last time that is read."""
        return float(self.spans[:, 1].max()) if len(self.spans) else 0.0

    def rows_until(self, rates: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return times in order, and how many rows begin before each of them."""
        low, high, level = self.spans[np.argsort(self.spans[:, 0], kind="stable")].T
        rows = np.cumsum((high - low) * rates[level.astype(np.int64)])
        times = np.column_stack([low, high]).reshape(-1)
        return times, np.column_stack([np.concatenate([[0.0], rows[:-1]]), rows]).reshape(-1)


def handle_batches(levels: Sequence[Level], windows: IntArray, steps: Sequence[Step], ticks: float) -> list[Handled]:
    """Return what batches do with the levels of a tree whose clock has so many ticks in a second.

    Windows of 100 every 10 over slices of 1 and chunks of 10, in batches of 20: a batch reads 100 ticks as chunks and
    the last 10 as slices, since a window ends there, folds two chunks, and keeps them and some of its slices.

    >>> levels = (Level(((1, 0),), 10), Level(((10, 0),), 100))
    >>> [batch] = handle_batches(levels, np.array([[100], [10], [0], [1]]), [Step(200, 220, 220, 20)], 1)
    >>> batch.spans.tolist(), batch.folded.tolist(), batch.loaded.tolist(), batch.saved.tolist()
    ([[210.0, 220.0, 0.0], [110.0, 210.0, 1.0]], [20.0, 0.0], [0.0, 90.0], [9.0, 20.0])
    """
    return [_handle(levels, windows, step, ticks) for step in steps]


def _handle(levels: Sequence[Level], windows: IntArray, step: Step, ticks: float) -> Handled:
    reach = max(level.reach for level in levels)
    after, until, high = (round(time * ticks) for time in (step.after, step.until, step.high))
    fresh = [(high - round(step.added * ticks), high)]  # of every level, what the batch makes
    began = after if after > 0 else -FAR * reach
    spans = cover_windows(levels, windows, began, until) if step.answers else []
    needs = [level.since(until) for level in levels]
    for number, of_level in enumerate(spans):
        needs[number] = min([needs[number], *(low for low, _ in of_level)])
    folded, loaded, saved = (np.zeros(len(levels)) for _ in range(3))
    for number in range(1, len(levels)):
        level = levels[number]
        closing = max(level.floor(began), level.floor(min(needs[number:]))), level.floor(until)
        closing = (closing[0], max(closing))
        fresh.append(closing)
        folded[number - 1] += _length([closing], 0, high)
        loaded[number - 1] += _length([closing], 0, min(fresh[number - 1][0], high))
    for number, of_level in enumerate(spans):
        loaded[number] += _length(of_level, 0, min(fresh[number][0], high))
    for number, level in enumerate(levels):
        saved[number] = _length(fresh[number : number + 1], max(level.since(until), 0), high)
    read = [(max(low, 0), min(end, high), n) for n, of_level in enumerate(spans) for low, end in of_level]
    return Handled(step, np.array([s for s in read if s[0] < s[1]], float).reshape(-1, 3), folded, loaded, saved)


def _length(spans: Sequence[Span], low: int, high: int) -> float:
    """Return the ticks of spans between two times."""
    return float(sum(max(0, min(end, high) - max(begin, low)) for begin, end in spans))
