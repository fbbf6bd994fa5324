"""Feed: events become partials, one per key and slice of every tree that reads raw events."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.engine.accumulate import accumulate
from jobs.engine.events import Events, Value
from jobs.engine.keys import Keys, key_codes
from jobs.engine.program import MeasureProgram
from jobs.engine.roll_up import Feed
from jobs.engine.signatures import signed
from jobs.engine.slices import Slices, carry
from jobs.engine.slicing import Edges, count_between, edges_between, slice_numbers, slice_starts
from jobs.kernels.operators import COUNT, Rows

Ints = npt.NDArray[np.int64]
ROOMY = 4  # cells are laid out densely while there are at most this many per event


class Cells(NamedTuple):
    """Event i belongs to cell[i]; cell c stands for key code[c] and the slice that starts at start[c]."""

    cell: Ints
    code: Ints
    start: Ints


def feed(events: Events, fed: Feed, emitted: int) -> Slices:
    """The partials of a tree. Events whose windows were all emitted are left out; the late table names them."""
    tree = fed.tree
    keys = key_codes(events.keys.select(list(fed.grouping.keys)))
    wanted = events.times > emitted - fed.reach
    if tree.bits:
        found = events.signatures_of([test.name for test in tree.bits])
        keys = signed(keys, found)
        if all(measure.where for measure in fed.measures):
            wanted &= found.some[found.codes]
    chosen = np.flatnonzero(wanted)
    everything = len(chosen) == len(events.times)
    times, codes = (events.times, keys.codes) if everything else (events.times[chosen], keys.codes[chosen])
    cells = cells_of(tree.edges, times, codes, keys.distinct.num_rows)
    rows: dict[str, Rows] = {}
    carried: dict[str, pa.Array] = {}
    for measure in fed.held:
        value, valid = input_of(events, measure, None if everything else chosen)
        held = accumulate(measure.op, len(cells.code), cells.cell, value, valid)
        if measure.carries and not everything:
            held[:, 1] = chosen[held[:, 1].astype(np.int64)] if len(chosen) else 0
        carried |= carry(
            measure, held, {name: events.values[source].column for name, source in measure.carries.items()}
        )
        rows[measure.key] = held
    return _slices(cells, keys, rows, carried)


def cells_of(edges: Edges, times: Ints, codes: Ints, groups: int) -> Cells:
    """Number the (key, slice) pairs that occur; key by key, in slice order."""
    if not len(times):
        none = np.empty(0, np.int64)
        return Cells(none, none, none)
    first, last = int(times.min()), int(times.max())
    room = ROOMY * len(times) + 65_536
    if count_between(edges, first, last) * groups <= room:
        laid_out = edges_between(edges, first, last)
        cell = codes * len(laid_out) + slice_numbers(laid_out, times)
        used = np.bincount(cell, minlength=groups * len(laid_out)) > 0
        occurring = np.flatnonzero(used)
        renumbered = np.cumsum(used) - 1
        return Cells(renumbered[cell], occurring // len(laid_out), laid_out[occurring % len(laid_out)])
    starts, number = np.unique(slice_starts(edges, times), return_inverse=True)
    occurring, cell = np.unique(codes * len(starts) + number, return_inverse=True)
    return Cells(cell.astype(np.int64), occurring // len(starts), starts[occurring % len(starts)])


def input_of(events: Events, measure: MeasureProgram, chosen: Ints | None) -> tuple[Rows, npt.NDArray[np.bool_] | None]:
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
