"""Partials by Spark's own groupBy: which passes it makes over the events, and what our task makes of their rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.arrow import split_words, to_array
from jobs.engine.events.columns import Events, value_of
from jobs.engine.events.keys import sign_keys, signature_column
from jobs.engine.feed.task import partials_by_tree
from jobs.engine.program.program import (
    NO_KEY,
    SIGNATURE,
    Input,
    MeasureProgram,
    Program,
    TreeProgram,
    key_column,
    key_columns,
)
from jobs.engine.slices.cells import find_cells
from jobs.engine.slices.exchange import merge_tables, pack_by_bucket
from jobs.engine.slices.roll_up import Feed, feeds
from jobs.engine.slices.slices import measure_columns, to_table
from jobs.engine.work import FeedReport, Parcel, Stopwatch
from jobs.host.stops import step
from jobs.kernels.algebra.operators import (
    CENTRAL_MOMENTS,
    CO_MOMENTS,
    COUNT,
    LIMB_BITS,
    LIMB_MASK,
    MOMENTS,
    SUM_FLOAT,
    SUM_INT,
    VALID,
    WIDTH,
)
from jobs.kernels.arrays import Bools, Rows
from jobs.kernels.slices.edges import slice_starts
from optimizer.plan.counters import CELL, PARTIAL
from optimizer.windows.edges import Edges

SLOTS = 1 << 16  # of a lookup array
WORD = 62  # predicates of a signature in one bigint
COLUMNS = 96  # aggregates of one pass: Spark's generated code is slow beyond
PASSES = 3  # over the same events; more cost as much as folding each event once
ROW = 8  # events that another pass reads and aggregates for what one more row of a pass costs
PARTS = {SUM_INT: 2, SUM_FLOAT: 2, MOMENTS: 4}  # columns of a measure, where there are several

# Spark does not tell the means that these are around: of equal values, a slice's must be exactly the next one's
INEXACT = (CENTRAL_MOMENTS, CO_MOMENTS)


@dataclass(frozen=True)
class Aggregation:
    """Trees that read raw events, of one grouping or of several, and what one pass makes for all of them."""

    feeds: tuple[Feed, ...]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The group-by columns of all trees together."""
        return tuple(dict.fromkeys(key for feed in self.feeds for key in feed.grouping.keys))

    @cached_property
    def edges(self) -> Edges:
        """The edges of all trees together."""
        return tuple(sorted({edge for feed in self.feeds for edge in feed.tree.edges}))

    @cached_property
    def measures(self) -> tuple[MeasureProgram, ...]:
        """The measures of all trees, and those they lend to coarser groupings."""
        measures = {measure.key: measure for feed in self.feeds for measure in feed.folded_measures}
        return tuple(measures[key] for key in sorted(measures))

    @cached_property
    def bits(self) -> tuple[Input, ...]:
        """The predicates whose signatures keep shards apart."""
        tests = {test.name: test for feed in self.feeds for test in feed.tree.bits}
        return tuple(tests[name] for name in sorted(tests))


def aggregations(program: Program, in_one: bool = False) -> list[Aggregation]:
    """Return a pass for every grouping whose trees read raw events, or one for all of them, by all their keys.

    Trees that are rolled up from another's partials come later."""
    by_grouping: dict[str, list[Feed]] = {}
    for feed in feeds(program):
        if not feed.finer:
            by_grouping.setdefault("" if in_one else feed.grouping.name, []).append(feed)
    return [Aggregation(tuple(group)) for group in by_grouping.values()]


def is_one_pass_cheaper(events: int, partials: Sequence[int], joint: int) -> bool:
    """Whether one pass by all keys costs less than a pass per grouping: it reads once, and may make more rows.

    >>> is_one_pass_cheaper(1_000, [10, 20], 100), is_one_pass_cheaper(1_000, [10, 20], 800)
    (True, False)
    """
    return len(partials) > 1 and (joint - sum(partials)) * ROW < events * (len(partials) - 1)


def why_not(program: Program, in_one: bool = False) -> str:
    """Return why Spark's own aggregates would not give the partials, exactly and sooner; "" when they do."""
    passes = aggregations(program, in_one)
    if not passes:
        return "no query is woven"
    if program.in_rows:
        return "some windows are measured in rows"
    if len(passes) > PASSES:
        return f"{len(passes)} groupings would take as many passes"
    for aggregation in passes:
        carrying = [measure.key for measure in aggregation.measures if not _in_place(measure, program)]
        if carrying:  # Spark sorts all events for these
            return f"{carrying[0]} carries texts along"
        longest = [measure.key for measure in aggregation.measures if measure.coding == "high"]
        if longest:  # of a slice's sum that Spark refuses, a window may hold the opposite
            return f"{longest[0]} may leave Spark's own sum"
        tallies = [measure.key for measure in aggregation.measures if measure.tally]
        if tallies:
            return f"{tallies[0]} has partials that Spark does not make"
        inexact = [measure.key for measure in aggregation.measures if measure.op in INEXACT]
        if inexact:
            return f"{inexact[0]} needs means to the last digit"
        if sum(PARTS.get(measure.op, 1) for measure in aggregation.measures) > COLUMNS:
            return f"{len(aggregation.measures)} measures are too many for one pass"
    return ""


def _in_place(measure: MeasureProgram, program: Program) -> bool:
    """Whether all that a measure carries has a fixed width: Spark keeps such values in a table of hashes."""
    sql = {item.name: item.sql for item in program.values}
    kinds = [program.types[sql[name]] for name in measure.carries.values()]
    return not any(kind in (pa.string(), pa.binary()) for kind in kinds)


def pass_edges(edges: Edges) -> Edges:
    """Return the edges that a pass slices by: the given ones, or finer ones where a composite slide has too many slots.

    The finer ones are the slots' own, so no slice of the pass lies across an edge.

    >>> pass_edges(((4, 0), (6, 2)))
    ((4, 0), (6, 2))
    >>> pass_edges(((2, 1), (1009, 0), (1013, 0)))
    ((1, 0),)
    """
    slot = math.gcd(*(number for edge in edges for number in edge))
    composite = math.lcm(*(period for period, _ in edges))
    return edges if composite // slot <= SLOTS else ((slot, 0),)


def count_partials(events: Events, aggregation: Aggregation) -> int:
    """Return how many partials the events would become in one pass."""
    keys = events.keys_of(key_columns(aggregation.keys))
    if aggregation.bits:
        keys = sign_keys(keys, events.signatures_of([test.name for test in aggregation.bits]))
    edges = pass_edges(aggregation.edges)
    return len(find_cells(edges, events.times, keys.codes, keys.distinct.num_rows).code)


START, EVENTS, LATEST, LATE = "__start", "__events", "__latest", "__late"


def spark_key(number: int) -> str:
    """Return the name of a group-by column among Spark's aggregates."""
    return f"__k{number}"


def word_column(number: int) -> str:
    """Return the name of a part of the signature among Spark's aggregates."""
    return f"__s{number}"


def part_column(measure: int, part: int) -> str:
    """Return the name of a part of a measure among Spark's aggregates."""
    return f"__m{measure}_{part}"


def feed_aggregated(
    program: Program, buckets: int, aggregation: Aggregation, table: pa.Table, counts_events: bool
) -> tuple[FeedReport, list[Parcel]]:
    """Turn Spark's aggregates into partials of every tree, addressed; of several passes, one counts the events."""
    report = FeedReport()
    watch = Stopwatch(report.seconds)
    timed = table.filter(pc.is_valid(table[START]))
    if counts_events:
        _count(report, table, timed)
    step("read")
    watch.lap("read")
    tables = (
        {feed.tree.id: [_partials(timed, aggregation, feed)] for feed in aggregation.feeds} if timed.num_rows else {}
    )
    for feed in aggregation.feeds:
        folds = _count_folds(timed, aggregation, feed)
        report.count_folds(feed.tree.id, {CELL: timed.num_rows, PARTIAL: folds})
    step("feed")
    watch.lap("feed")
    below = {id for feed in aggregation.feeds for id in (feed.tree.id, *(tree.id for tree in feed.coarser))}
    planned = [feed for feed in feeds(program) if feed.tree.id in below]
    addressed = [Parcel(*packed) for packed in pack_by_bucket(partials_by_tree(report, planned, tables), buckets)]
    step("parcels")
    watch.lap("exchange")
    return report, addressed


def _count(report: FeedReport, table: pa.Table, timed: pa.Table) -> None:
    report.events = pc.sum(table[EVENTS]).as_py() or 0
    report.without_time = report.events - (pc.sum(timed[EVENTS]).as_py() or 0)
    if timed.num_rows:
        report.latest = pc.max(timed[LATEST]).as_py()
        report.early = pc.sum(timed[LATE]).as_py() if LATE in timed.column_names else 0


def _count_folds(timed: pa.Table, aggregation: Aggregation, feed: Feed) -> int:
    """Return how many events were folded, each once per measure that takes it."""
    events = pc.sum(timed[EVENTS]).as_py() or 0
    if feed.tree.bits:
        return int(events * len(feed.folded_measures))
    passing = {
        measure.where: pc.sum(timed[part_column(number, 0)]).as_py() or 0
        for number, measure in enumerate(aggregation.measures)
        if measure.op == COUNT and not measure.order
    }
    return int(sum(passing.get(measure.where, events) for measure in feed.folded_measures))


def _partials(timed: pa.Table, aggregation: Aggregation, feed: Feed) -> pa.Table:
    """Return a tree's slices; Spark's groups come in any order, and several of them may fall into one slice."""
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for name in feed.grouping.keys:
        columns[key_column(name)] = timed[spark_key(aggregation.keys.index(name))]
    if not feed.grouping.keys:
        columns[NO_KEY] = pa.nulls(timed.num_rows, pa.bool_())
    if feed.tree.bits:
        columns[SIGNATURE] = _signatures(timed, aggregation, feed.tree)
    columns["start"] = pa.array(slice_starts(feed.tree.edges, timed[START].to_numpy()))
    place = {measure.key: number for number, measure in enumerate(aggregation.measures)}
    for measure in feed.folded_measures:
        columns |= measure_columns(measure.key, rows_of(measure, place[measure.key], timed))
        columns |= _carried(measure, place[measure.key], timed)
    return to_table(merge_tables(feed.grouping, feed.tree, [pa.table(columns)], feed.folded_measures))


def _carried(measure: MeasureProgram, number: int, timed: pa.Table) -> dict[str, pa.ChunkedArray]:
    """Return what a measure carries along: its first part is what orders the values, its second what it picks."""
    parts = {f"order {measure.key}": 0, f"payload {measure.key}": 1}
    return {name: timed[part_column(number, parts[name])] for name in measure.carries}


def _signatures(timed: pa.Table, aggregation: Aggregation, tree: TreeProgram) -> pa.Array:
    place = {test.name: number for number, test in enumerate(aggregation.bits)}
    tests = np.empty((timed.num_rows, len(tree.bits)), np.bool_)
    for bit, test in enumerate(tree.bits):
        word, shift = divmod(place[test.name], WORD)
        tests[:, bit] = (timed[word_column(word)].to_numpy() >> shift) & 1
    return signature_column(tests)


def rows_of(measure: MeasureProgram, number: int, timed: pa.Table) -> Rows:
    """Return the rows of a measure, from what Spark's aggregates gave; null where a slice has no value."""
    first, valid = _part(timed, number, 0)
    if measure.coding == "decimal" and measure.op == SUM_INT:
        low, high = split_words(to_array(timed[part_column(number, 0)]))
        return _rows([(high << LIMB_BITS) | ((low >> LIMB_BITS) & LIMB_MASK), low & LIMB_MASK], valid)
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
    value = value_of(to_array(timed[part_column(number, part)]))
    return value.numbers, value.valid


def _rows(columns: Sequence[Rows], valid: Bools | None) -> Rows:
    rows = np.zeros((len(columns[0]), WIDTH), columns[0].dtype)
    for number, column in enumerate(columns):
        rows[:, number] = column
    rows[:, VALID] = 1 if valid is None else valid
    if valid is not None:
        rows[~valid] = 0
    return rows
