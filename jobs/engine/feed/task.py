"""What one feed task does: read events, fold them into partials, write late events, address the partials.

Events become one partial per key and slice where windows are in time, one per event where they are in rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from jobs.engine.events.arrow import decode_dictionary
from jobs.engine.events.columns import BATCH, FILE, POSITION, Events, events_from, with_arrivals
from jobs.engine.events.keys import Keys, sign_keys
from jobs.engine.events.parquet import EventReader, Split, gather_tables, with_inputs
from jobs.engine.program.program import Grouping, MeasureProgram, Program, QueryProgram, TreeProgram, Unshared
from jobs.engine.slices.cells import Cells, find_cells
from jobs.engine.slices.exchange import hardly_overlap, merge_tables, pack_by_bucket
from jobs.engine.slices.roll_up import Feed, count_cells, feeds, roll_up
from jobs.engine.slices.slices import Slices, measure_columns, take_carried, to_table
from jobs.engine.slices.tallies import fold_tally, tally_events
from jobs.engine.warehouse.result_files import Correction, write_late
from jobs.engine.work import FeedReport, Parcel, Stopwatch, Work, tally
from jobs.host.stops import step
from jobs.host.storage import Storage
from jobs.kernels.algebra.operators import COUNT, LAST, MIN, SUM_FLOAT
from jobs.kernels.arrays import Bools, Ints, Rows
from jobs.kernels.slices.accumulate import accumulate
from optimizer.plan import counters
from optimizer.windows.window import Window

FOLD_AT = 32  # tables of partials kept at once
TablePair = tuple[pa.Table, pa.Table]  # events as they were read, and as the columns the fold needs


def feed_splits(program: Program, work: Work, splits: Iterable[Split]) -> tuple[FeedReport, list[Parcel]]:
    """Read the events of some splits and fold them: the file lane's task."""
    every = list(splits)
    report, parcels = feed_tables(program, work, _read(every, program, work))
    tally(report.counts, "", {counters.OPENED: len(every)})
    return report, parcels


def _read(splits: Iterable[Split], program: Program, work: Work) -> Iterator[TablePair]:
    """Yield the events of some splits; many small files make one table, which costs about as much as one file."""
    reader = EventReader(program, earlier=work.kind == "adopt")
    tables = ((split, table) for split in splits for table in reader.read(split))
    position: dict[str, int] = {}
    for parts, table in gather_tables(tables):
        inputs = with_inputs(table, program)
        yield table, with_arrivals(inputs, _places(parts, position)) if program.in_rows else inputs


def _places(parts: Iterable[tuple[Split, int]], position: dict[str, int]) -> Iterator[tuple[str, int, int]]:
    """Yield where the rows of every part stand: the file, the first position, their number."""
    for split, rows in parts:
        file = f"{split.path}#{min(split.row_groups, default=0):09d}"
        yield file, position.get(file, 0), rows
        position[file] = position.get(file, 0) + rows


def feed_tables(program: Program, work: Work, pairs: Iterable[TablePair]) -> tuple[FeedReport, list[Parcel]]:
    """Fold tables of events into partials; return the report and the partials, addressed to their buckets."""
    report = FeedReport()
    watch = Stopwatch(report.seconds)
    partials = fold_tables(program, work, pairs, report, watch)
    parcels = [Parcel(*packed) for packed in pack_by_bucket(partials, work.buckets)]
    step("parcels")
    watch.lap("exchange")
    return report, parcels


def fold_tables(
    program: Program, work: Work, pairs: Iterable[TablePair], report: FeedReport, watch: Stopwatch
) -> Iterator[tuple[Grouping, TreeProgram, Slices | pa.Table]]:
    """Fold tables of events and yield the partials of every tree; the report is complete after the last of them."""
    ordered = feeds(program)
    keyed = {feed.grouping.columns for feed in ordered if feed.grouping.keys and not (feed.finer or feed.tree.rows)}
    tables: dict[str, list[pa.Table]] = {}
    for raw, inputs in pairs:
        step("read")
        watch.lap("read")
        tests = len(program.predicates)
        columns = inputs.num_columns - tests
        rows = inputs.num_rows
        tally(report.counts, "", {counters.EVENT: rows, counters.READ: rows * columns, counters.TESTED: rows * tests})
        events = events_from(inputs, program)
        tally(report.counts, "", {counters.KEYED: len(events.times) * len(keyed)})
        if work.counts:
            _count_events(report, events)
        if work.kind == "batch" and work.finds_late:
            write_late_events(report, raw, events, program, work)
        elif work.kind == "batch" and work.counts:
            report.early += int(np.count_nonzero(events.times < work.emitted))
        for feed in ordered:
            if not feed.finer:  # one that is rolled up gets its partials later
                _add_partials(report, tables.setdefault(feed.tree.id, []), feed, events, work)
        step("feed")
        watch.lap("feed")
    yield from partials_by_tree(report, ordered, tables)


def feed_late_events(program: Program, work: Work, pairs: Iterable[TablePair]) -> FeedReport:
    """Write the late events among some that were counted and folded before."""
    report = FeedReport()
    for raw, inputs in pairs:
        write_late_events(report, raw, events_from(inputs, program), program, work)
    return report


def _add_partials(report: FeedReport, tables: list[pa.Table], feed: Feed, events: Events, work: Work) -> None:
    """Fold events into one more table of a tree's partials; where there are many tables, make one of them."""
    if feed.tree.rows:
        tables.append(row_partials(events, feed.grouping, feed.tree, work.emitted, work.batch))
        return
    counts: dict[str, int] = {}
    tables.append(to_table(fold_events(events, feed, work.emitted, counts)))
    report.count_folds(feed.tree.id, counts)
    if len(tables) >= FOLD_AT:
        tables[:] = [to_table(merge_tables(feed.grouping, feed.tree, tables, feed.folded_measures))]


def partials_by_tree(
    report: FeedReport, ordered: Sequence[Feed], tables: Mapping[str, list[pa.Table]]
) -> Iterator[tuple[Grouping, TreeProgram, Slices | pa.Table]]:
    """Yield the partials of every tree: its own, merged where that makes them fewer, or rolled up from another's."""
    slices: dict[str, Slices] = {}
    for feed in ordered:
        tree = feed.tree
        if tree.id in tables and (tree.rows or (not feed.coarser and hardly_overlap(tables[tree.id]))):
            table = pa.concat_tables(tables[tree.id], promote_options="permissive")
            tally(
                report.counts,
                tree.id,
                {counters.SLICE: table.num_rows, counters.MADE: table.num_rows * len(tree.partial_measures)},
            )
            yield feed.grouping, tree, table
            continue
        if feed.finer and feed.finer.tree.id in slices:
            finer = slices[feed.finer.tree.id]
            slices[tree.id] = roll_up(finer, feed)
            report.count_rolled(tree.id, len(finer.start), len(feed.folded_measures))
        elif tree.id in tables:
            slices[tree.id] = merge_tables(feed.grouping, tree, tables[tree.id], feed.folded_measures)
        if tree.id in slices:
            slice_count = len(slices[tree.id].start)
            tally(
                report.counts,
                tree.id,
                {counters.SLICE: slice_count, counters.MADE: slice_count * len(tree.partial_measures)},
            )
        if tree.id in slices and tree.partial_measures:  # a grouping that no query asks for only lends
            yield feed.grouping, tree, feed.without_lent(slices[tree.id])


def _count_events(report: FeedReport, events: Events) -> None:
    report.events += len(events.times) + events.without_time
    report.without_time += events.without_time
    if len(events.times):
        report.latest = max(report.latest, int(events.times.max()))


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


def count_missed_windows(
    events: Events, places: Ints, program: Program, emitted: int, joined: Mapping[str, int]
) -> Ints:
    """Return how many windows of all queries missed each of some events.

    A query that joined later (its label is in `joined`) has missed nothing in windows that ended before it did."""
    missed = np.zeros(len(places), np.int64)
    times = events.times[places]
    woven = [query for grouping in program.groupings for tree in grouping.trees for query in tree.queries]
    queries: list[QueryProgram | Unshared] = [*woven, *program.unshared]
    for query in queries if len(places) else []:
        windows = windows_missed(times, query.window, emitted)
        if query.label in joined:
            windows = windows - windows_missed(times, query.window, min(emitted, joined[query.label]))
        missed += windows * events.predicates[query.where][places] if query.where else windows
    return missed


def find_late_events(events: Events, program: Program, emitted: int, joined: Mapping[str, int]) -> tuple[Ints, Ints]:
    """Return the positions of the late events, and how many windows of all queries missed each."""
    early = np.flatnonzero(events.times < emitted)
    missed = count_missed_windows(events, early, program, emitted, joined)
    late = np.flatnonzero(missed)
    return early[late], missed[late]


def write_late_events(report: FeedReport, raw: pa.Table, events: Events, program: Program, work: Work) -> None:
    """Write the late events among some to the late table, and count them in the report; `raw` holds all columns."""
    positions, missed = find_late_events(events, program, work.emitted, work.joined)
    if len(positions):
        rows = raw.filter(raw[program.time].is_valid()) if events.without_time else raw
        report.windows_missed += int(np.sum(missed))
        late = rows.take(pa.array(positions))
        correction = _count_corrections(report, events, positions, missed, program, work)
        report.late.append(write_late(Storage(work.root), work.batch, work.emitted, late, missed, correction))


def _count_corrections(
    report: FeedReport, events: Events, positions: Ints, missed: Ints, program: Program, work: Work
) -> Correction | None:
    """Count the windows that late events correct: those that missed them and end after a time."""
    if work.corrected_after is None:
        return None
    corrected = missed - count_missed_windows(events, positions, program, work.corrected_after, work.joined)
    report.windows_corrected += int(np.sum(corrected))
    times = events.times[positions[corrected > 0]]
    report.first_corrected = int(np.min(times, initial=report.first_corrected))
    return Correction(corrected, work.corrected_after)


def fold_events(events: Events, feed: Feed, emitted: int, counts: dict[str, int] | None = None) -> Slices:
    """Fold events into the partials of a tree, one per key and slice; add what it takes to the counts.

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
    if counts is not None:
        counts |= count_cells(events, feed, cells)
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
