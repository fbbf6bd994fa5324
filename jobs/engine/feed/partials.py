"""Events become partials: one per key and slice where windows are in time, one per event where they are in rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from jobs.engine.events.arrow import decode_dictionary
from jobs.engine.events.columns import BATCH, FILE, POSITION, Events
from jobs.engine.events.keys import Keys
from jobs.engine.events.signatures import sign_keys
from jobs.engine.program.program import Grouping, MeasureProgram, TreeProgram
from jobs.engine.slices.cells import Cells, find_cells
from jobs.engine.slices.roll_up import Feed
from jobs.engine.slices.slices import Slices, measure_columns, take_carried
from jobs.engine.slices.tallies import fold_tally, tally_events
from jobs.kernels.algebra.operators import COUNT, LAST, MIN, SUM_FLOAT
from jobs.kernels.arrays import Bools, Ints, Rows
from jobs.kernels.slices.accumulate import accumulate


def fold_events(events: Events, feed: Feed, emitted: int) -> Slices:
    """Fold events into the partials of a tree, one per key and slice.

    Events whose windows were all emitted are left out; the late table names them."""
    tree = feed.tree
    keys = events.keys_of(feed.grouping.columns)
    may_count = events.times > emitted - feed.reach
    if tree.bits:
        signatures = events.signatures_of([test.name for test in tree.bits])
        keys = sign_keys(keys, signatures)
        if all(measure.where for measure in feed.measures):
            may_count &= signatures.passes_any[signatures.codes]
    places = None if may_count.all() else np.flatnonzero(may_count)
    times, codes = (events.times, keys.codes) if places is None else (events.times[places], keys.codes[places])
    cells = find_cells(tree.edges, times, codes, keys.distinct.num_rows)
    rows: dict[str, Rows] = {}
    carried: dict[str, pa.Array] = {}
    for measure in feed.folded_measures:
        value, valid = measure_input(events, measure, places)
        others = second_input(events, measure, places)
        partials = accumulate(measure.op, len(cells.code), cells.cell, value, valid, bool(measure.carries), others)
        if measure.op == SUM_FLOAT:
            partials[:, 0] += partials[:, 1]  # what is left of the error is less than the last digit of the slice's sum
            partials[:, 1] = 0
        if not measure.carries and MIN <= measure.op <= LAST:
            partials[:, 1] = 0  # no answer needs the place it came from
        elif measure.carries and places is not None:
            partials[:, 1] = places[partials[:, 1].astype(np.int64)] if len(places) else 0
        carried |= take_carried(
            measure, partials, {name: events.values[source].column for name, source in measure.carries.items()}
        )
        if measure.tally:
            events_tally = tally_events(measure, events.values[measure.order], valid, places)
            carried |= fold_tally(measure, events_tally, cells.cell, len(cells.code))
        rows[measure.key] = partials
    return _slices(cells, keys, rows, carried)


def measure_input(events: Events, measure: MeasureProgram, places: Ints | None) -> tuple[Rows, Bools | None]:
    """Return the numbers a measure folds and which of them count, of the chosen events or of all."""
    value = events.values.get(measure.order)
    numbers, valid = events.times, None
    if value is not None:
        valid = value.valid
        if measure.op != COUNT:  # which has no use for the numbers
            numbers = value.coded(measure.coding)
    if measure.second and (both := events.values[measure.second].valid) is not None:
        valid = both if valid is None else valid & both
    if measure.where:
        passing = events.predicates[measure.where]
        valid = passing if valid is None else valid & passing
    if measure.op == COUNT and not measure.order and not measure.where:
        valid = None
    if places is None:
        return numbers, valid
    return numbers[places], None if valid is None else valid[places]


def second_input(events: Events, measure: MeasureProgram, places: Ints | None) -> Rows | None:
    """Return the second numbers of the pairs that a measure folds, where it folds pairs."""
    if not measure.second:
        return None
    numbers = events.values[measure.second].numbers
    return numbers if places is None else numbers[places]


def _slices(cells: Cells, keys: Keys, rows: dict[str, Rows], carried: dict[str, pa.Array]) -> Slices:
    sizes = np.bincount(cells.code, minlength=keys.distinct.num_rows)
    return Slices(keys.distinct, np.concatenate([[0], np.cumsum(sizes)]), cells.start, rows, carried)


def row_partials(events: Events, grouping: Grouping, tree: TreeProgram, emitted: int, batch: int) -> pa.Table:
    """Make a partial of every event that is numbered: it passes the predicate and is not late.

    Only its key's bucket can tell an event's number, so each comes with when it arrived."""
    is_numbered = events.times >= emitted
    if tree.where:
        is_numbered &= events.predicates[tree.where]
    places = np.flatnonzero(is_numbered)
    columns = {name: decode_dictionary(events.keys[name].take(pa.array(places))) for name in grouping.columns}
    columns["start"] = pa.array(events.times[places])
    columns[BATCH] = pa.array(np.full(len(places), batch))
    columns |= {name: decode_dictionary(events.arrival[name].take(pa.array(places))) for name in (FILE, POSITION)}
    for measure in tree.measures:
        value, valid = measure_input(events, measure, places)
        others = second_input(events, measure, places)
        partials = accumulate(measure.op, len(places), np.arange(len(places)), value, valid, others=others)
        if measure.carries:
            partials[:, 1] = places
        carried = {name: events.values[source].column for name, source in measure.carries.items()}
        columns |= take_carried(measure, partials, carried)
        if measure.tally:
            events_tally = tally_events(measure, events.values[measure.order], valid, places)
            columns |= fold_tally(measure, events_tally, np.arange(len(places)), len(places))
        columns |= measure_columns(measure.key, partials)
    return pa.table(columns)
