"""Events that Spark has aggregated already: their partials, folded into the trees of the grouping."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.arrow import whole
from jobs.engine.events.columns import value_of
from jobs.engine.events.signatures import SIGNATURE, signature_column
from jobs.engine.feed.spark_pass import WORD, Aggregation
from jobs.engine.feed.task import fed
from jobs.engine.program.program import ALL, MeasureProgram, Program, TreeProgram, key_column
from jobs.engine.slices.exchange import joined, pack_by_bucket
from jobs.engine.slices.roll_up import Feed, feeds
from jobs.engine.slices.slices import columns_of, to_table
from jobs.engine.stopwatch import Stopwatch
from jobs.engine.work import FeedReport, Parcel
from jobs.host.kill_points import step
from jobs.kernels.algebra.operators import COUNT, LIMB_BITS, LIMB_MASK, MOMENTS, SUM_FLOAT, SUM_INT, VALID, WIDTH
from jobs.kernels.arrays import Bools, Rows
from jobs.kernels.slices.edges import slice_starts

START, EVENTS, LATEST, LATE = "__start", "__events", "__latest", "__late"


def spark_key(number: int) -> str:
    """What the aggregated events call a group-by column."""
    return f"__k{number}"


def word_column(number: int) -> str:
    """What they call a part of the signature."""
    return f"__s{number}"


def part_column(measure: int, part: int) -> str:
    """What they call a part of a measure."""
    return f"__m{measure}_{part}"


def feed_aggregated(
    program: Program, buckets: int, found: Aggregation, table: pa.Table, counting: bool
) -> tuple[FeedReport, list[Parcel]]:
    """The task after Spark's aggregates: partials of every tree, addressed. One pass of several counts the events."""
    report = FeedReport()
    watch = Stopwatch(report.seconds)
    timed = table.filter(pc.is_valid(table[START]))
    if counting:
        _count(report, table, timed)
    step("read")
    watch.lap("read")
    held = {feed.tree.id: [_partials(timed, found, feed)] for feed in found.feeds} if timed.num_rows else {}
    for feed in found.feeds:
        report.add_operations(feed.tree.id, _folded(timed, found, feed))
    step("feed")
    watch.lap("feed")
    below = {id for feed in found.feeds for id in (feed.tree.id, *(tree.id for tree in feed.coarser))}
    planned = [feed for feed in feeds(program) if feed.tree.id in below]
    sent = [Parcel(*packed) for packed in pack_by_bucket(fed(report, planned, held), buckets)]
    step("parcels")
    watch.lap("exchange")
    return report, sent


def _count(report: FeedReport, table: pa.Table, timed: pa.Table) -> None:
    report.events = pc.sum(table[EVENTS]).as_py() or 0
    report.without_time = report.events - (pc.sum(timed[EVENTS]).as_py() or 0)
    if timed.num_rows:
        report.latest = pc.max(timed[LATEST]).as_py()
        report.early = pc.sum(timed[LATE]).as_py() if LATE in timed.column_names else 0


def _folded(timed: pa.Table, found: Aggregation, feed: Feed) -> int:
    """How many events were folded, each once per measure that takes it."""
    events = pc.sum(timed[EVENTS]).as_py() or 0
    if feed.tree.bits:
        return int(events * len(feed.held))
    passing = {
        measure.where: pc.sum(timed[part_column(number, 0)]).as_py() or 0
        for number, measure in enumerate(found.measures)
        if measure.op == COUNT and not measure.order
    }
    return int(sum(passing.get(measure.where, events) for measure in feed.held))


def _partials(timed: pa.Table, found: Aggregation, feed: Feed) -> pa.Table:
    """A tree's slices; Spark's groups come in any order, and several of them may fall into one slice."""
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    if feed.grouping.keys == (ALL,):
        columns[key_column(ALL)] = pa.nulls(timed.num_rows, pa.bool_())
    for number, name in enumerate(found.keys):
        columns[key_column(name)] = timed[spark_key(number)]
    if feed.tree.bits:
        columns[key_column(SIGNATURE)] = _signatures(timed, found, feed.tree)
    columns["start"] = pa.array(slice_starts(feed.tree.edges, timed[START].to_numpy()))
    place = {measure.key: number for number, measure in enumerate(found.measures)}
    for measure in feed.held:
        columns |= columns_of(measure.key, rows_of(measure, place[measure.key], timed))
    return to_table(joined(feed.grouping, feed.tree, [pa.table(columns)], feed.held))


def _signatures(timed: pa.Table, found: Aggregation, tree: TreeProgram) -> pa.Array:
    place = {test.name: number for number, test in enumerate(found.bits)}
    tests = np.empty((timed.num_rows, len(tree.bits)), np.bool_)
    for bit, test in enumerate(tree.bits):
        word, shift = divmod(place[test.name], WORD)
        tests[:, bit] = (timed[word_column(word)].to_numpy() >> shift) & 1
    return signature_column(tests)


def rows_of(measure: MeasureProgram, number: int, timed: pa.Table) -> Rows:
    """The rows of a measure, from what Spark's aggregates gave; null where a slice has no value."""
    first, valid = _part(timed, number, 0)
    if measure.op == SUM_INT:
        low, _ = _part(timed, number, 1)
        return _rows([first + (low >> LIMB_BITS), low & LIMB_MASK], valid)
    if measure.op == SUM_FLOAT:
        return _rows([first, _part(timed, number, 1)[0]], valid)
    if measure.op == MOMENTS:
        (high, _), (low, _), (variance, _) = (_part(timed, number, part) for part in (1, 2, 3))
        count = np.maximum(first, 1)
        return _rows([first.astype(np.float64), (high + low) / count, variance * count], first > 0)
    return _rows([first], None if measure.op == COUNT else valid)


def _part(timed: pa.Table, number: int, part: int) -> tuple[Rows, Bools | None]:
    value = value_of(whole(timed[part_column(number, part)]))
    return value.numbers, value.valid


def _rows(columns: Sequence[Rows], valid: Bools | None) -> Rows:
    rows = np.zeros((len(columns[0]), WIDTH), columns[0].dtype)
    for number, column in enumerate(columns):
        rows[:, number] = column
    rows[:, VALID] = 1 if valid is None else valid
    if valid is not None:
        rows[~valid] = 0
    return rows
