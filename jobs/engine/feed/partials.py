"""Events become partials: one per key and slice where windows are in time, one per event where they are in rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.engine.events.arrow import decode_dictionary
from jobs.engine.events.columns import BATCH, FILE, POSITION, Events, Value
from jobs.engine.events.keys import Keys, key_codes
from jobs.engine.events.signatures import sign_keys
from jobs.engine.program.program import Grouping, MeasureProgram, TreeProgram, key_column
from jobs.engine.slices.cells import Cells, find_cells
from jobs.engine.slices.roll_up import Feed
from jobs.engine.slices.slices import Slices, measure_columns, take_carried
from jobs.kernels.algebra.operators import COUNT, LAST, MIN, SUM_FLOAT
from jobs.kernels.arrays import Ints, Rows
from jobs.kernels.slices.accumulate import accumulate


def fold_events(events: Events, fed: Feed, emitted: int) -> Slices:
    """The partials of a tree. Events whose windows were all emitted are left out; the late table names them."""
    tree = fed.tree
    keys = key_codes(events.keys.select(list(fed.grouping.keys)))
    wanted = events.times > emitted - fed.reach
    if tree.bits:
        found = events.signatures_of([test.name for test in tree.bits])
        keys = sign_keys(keys, found)
        if all(measure.where for measure in fed.measures):
            wanted &= found.some[found.codes]
    chosen = None if wanted.all() else np.flatnonzero(wanted)
    times, codes = (events.times, keys.codes) if chosen is None else (events.times[chosen], keys.codes[chosen])
    cells = find_cells(tree.edges, times, codes, keys.distinct.num_rows)
    rows: dict[str, Rows] = {}
    carried: dict[str, pa.Array] = {}
    for measure in fed.held:
        value, valid = measure_input(events, measure, chosen)
        held = accumulate(measure.op, len(cells.code), cells.cell, value, valid, places=bool(measure.carries))
        if measure.op == SUM_FLOAT:
            held[:, 0] += held[:, 1]  # what is left of the error is less than the last digit of the slice's sum
            held[:, 1] = 0
        if not measure.carries and MIN <= measure.op <= LAST:
            held[:, 1] = 0  # nobody asks from where it was taken
        elif measure.carries and chosen is not None:
            held[:, 1] = chosen[held[:, 1].astype(np.int64)] if len(chosen) else 0
        carried |= take_carried(
            measure, held, {name: events.values[source].column for name, source in measure.carries.items()}
        )
        rows[measure.key] = held
    return _slices(cells, keys, rows, carried)


def measure_input(
    events: Events, measure: MeasureProgram, chosen: Ints | None
) -> tuple[Rows, npt.NDArray[np.bool_] | None]:
    """The numbers a measure folds and which of them count, of the chosen events or of all."""
    value = events.values.get(measure.order) or Value(events.times, None, pa.nulls(0))
    valid = value.valid
    if measure.where:
        passing = events.predicates[measure.where]
        valid = passing if valid is None else valid & passing
    if measure.op == COUNT and not measure.order and not measure.where:
        valid = None
    if chosen is None:
        return value.numbers, valid
    return value.numbers[chosen], None if valid is None else valid[chosen]


def _slices(cells: Cells, keys: Keys, rows: dict[str, Rows], carried: dict[str, pa.Array]) -> Slices:
    sizes = np.bincount(cells.code, minlength=keys.distinct.num_rows)
    return Slices(keys.distinct, np.concatenate([[0], np.cumsum(sizes)]), cells.start, rows, carried)


def row_partials(events: Events, grouping: Grouping, tree: TreeProgram, emitted: int, batch: int) -> pa.Table:
    """The events that are numbered: those that pass the predicate and are not late, with when they arrived."""
    wanted = events.times >= emitted
    if tree.where:
        wanted &= events.predicates[tree.where]
    chosen = np.flatnonzero(wanted)
    columns = {key_column(name): decode_dictionary(events.keys[name].take(pa.array(chosen))) for name in grouping.keys}
    columns["start"] = pa.array(events.times[chosen])
    columns[BATCH] = pa.array(np.full(len(chosen), batch))
    columns |= {name: decode_dictionary(events.arrival[name].take(pa.array(chosen))) for name in (FILE, POSITION)}
    for measure in tree.measures:
        value, valid = measure_input(events, measure, chosen)
        held = accumulate(measure.op, len(chosen), np.arange(len(chosen)), value, valid)
        if measure.carries:
            held[:, 1] = chosen
        carried = {name: events.values[source].column for name, source in measure.carries.items()}
        columns |= take_carried(measure, held, carried)
        columns |= measure_columns(measure.key, held)
    return pa.table(columns)
