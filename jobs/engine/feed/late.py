"""Late events: those that arrived after some of their windows were emitted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from jobs.engine.events.columns import Events
from jobs.engine.program.program import Program, QueryProgram, Unshared
from jobs.engine.warehouse.late_files import write_late
from jobs.engine.work import FeedReport, Work
from jobs.host.storage import Storage
from jobs.kernels.arrays import Ints
from optimizer.windows.window import Window


def windows_missed(times: Ints, window: Window, emitted: int) -> Ints:
    """Return how many windows hold each event's time and had ended when `emitted` was the watermark.

    At watermark 20, the windows [0, 10) and [5, 15) have missed an event at 7, and [10, 20) one at 17:

    >>> windows_missed(np.array([7, 17, 25]), Window(range=10, slide=5), 20).tolist()
    [2, 1, 0]
    """
    if window.rows:  # its number has been given to another row: it is in none of the windows that would hold it
        return np.where(times < emitted, -(-window.range // window.slide), 0)
    newest = np.minimum(times, emitted - window.range)
    missed = (newest - window.offset) // window.slide - (times - window.range - window.offset) // window.slide
    return np.maximum(missed, 0)


def find_late_events(events: Events, program: Program, emitted: int, joined: Mapping[str, int]) -> tuple[Ints, Ints]:
    """Return the positions of the late events, and how many windows of all queries missed each.

    A query that joined later (its label is in `joined`) has missed nothing in windows that ended before it did."""
    early = np.flatnonzero(events.times < emitted)
    missed = np.zeros(len(early), np.int64)
    if len(early):
        times = events.times[early]
        woven = [query for grouping in program.groupings for tree in grouping.trees for query in tree.queries]
        queries: list[QueryProgram | Unshared] = [*woven, *program.unshared]
        for query in queries:
            windows = windows_missed(times, query.window, emitted)
            if query.label in joined:
                windows = windows - windows_missed(times, query.window, min(emitted, joined[query.label]))
            missed += windows * events.predicates[query.where][early] if query.where else windows
    late = np.flatnonzero(missed)
    return early[late], missed[late]


def write_late_events(report: FeedReport, raw: pa.Table, events: Events, program: Program, work: Work) -> None:
    """Write the late events among some to the late table, and count them in the report; `raw` holds all columns."""
    positions, missed = find_late_events(events, program, work.emitted, work.joined)
    if len(positions):
        rows = raw.filter(raw[program.time].is_valid()) if events.without_time else raw
        report.windows_missed += int(np.sum(missed))
        late = rows.take(pa.array(positions))
        report.late.append(write_late(Storage(work.root), work.batch, work.emitted, late, missed))
