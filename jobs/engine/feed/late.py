"""Late events: those that arrived after some of their windows were emitted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jobs.engine.events.columns import Events
from jobs.engine.program.program import Program, QueryProgram, Unshared
from jobs.kernels.arrays import Ints
from optimizer.windows.window import Window


def windows_missed(times: Ints, window: Window, emitted: int) -> Ints:
    """How many windows hold the event's time and had ended when `emitted` was the watermark."""
    if window.rows:  # its number has been given to another row: it is in none of the windows that would hold it
        return np.where(times < emitted, -(-window.range // window.slide), 0)
    newest = np.minimum(times, emitted - window.range)
    missed = (newest - window.offset) // window.slide - (times - window.range - window.offset) // window.slide
    return np.maximum(missed, 0)


def find_late_events(events: Events, program: Program, emitted: int, joined: Mapping[str, int]) -> tuple[Ints, Ints]:
    """The positions of the late events, and the number of windows of all queries that missed each.

    Windows that ended before their query joined have missed nothing."""
    early = np.flatnonzero(events.times < emitted)
    missed = np.zeros(len(early), np.int64)
    if len(early):
        times = events.times[early]
        woven = [query for grouping in program.groupings for tree in grouping.trees for query in tree.queries]
        asked: list[QueryProgram | Unshared] = [*woven, *program.unshared]
        for query in asked:
            counted = windows_missed(times, query.window, emitted)
            if query.label in joined:
                counted = counted - windows_missed(times, query.window, min(emitted, joined[query.label]))
            missed += counted * events.predicates[query.where][early] if query.where else counted
    found = np.flatnonzero(missed)
    return early[found], missed[found]
