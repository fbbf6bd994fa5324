"""Feed of windows in rows: every event becomes a partial of its own, for only its key's bucket can tell its number."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from jobs.engine.events.columns import BATCH, FILE, POSITION, Events
from jobs.engine.feed.time_windows import input_of
from jobs.engine.program.program import Grouping, TreeProgram, key_column
from jobs.engine.slices.slices import carry, columns_of
from jobs.kernels.slices.accumulate import accumulate


def feed_rows(events: Events, grouping: Grouping, tree: TreeProgram, emitted: int, batch: int) -> pa.Table:
    """The events that are numbered: those that pass the predicate and are not late, with when they arrived."""
    wanted = events.times >= emitted
    if tree.where:
        wanted &= events.predicates[tree.where]
    chosen = np.flatnonzero(wanted)
    columns = {key_column(name): _plain(events.keys[name].take(pa.array(chosen))) for name in grouping.keys}
    columns["start"] = pa.array(events.times[chosen])
    columns[BATCH] = pa.array(np.full(len(chosen), batch))
    columns |= {name: _plain(events.arrival[name].take(pa.array(chosen))) for name in (FILE, POSITION)}
    for measure in tree.measures:
        value, valid = input_of(events, measure, chosen)
        held = accumulate(measure.op, len(chosen), np.arange(len(chosen)), value, valid)
        if measure.carries:
            held[:, 1] = chosen
        carried = {name: events.values[source].column for name, source in measure.carries.items()}
        columns |= carry(measure, held, carried)
        columns |= columns_of(measure.key, held)
    return pa.table(columns)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
