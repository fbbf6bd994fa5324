"""The frame lane: events of any DataFrame, aggregated by Spark itself where that is exact and pays, else folded.

Where Spark aggregates, it finds the slice of every event, and folds events into partials itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from jobs.engine.events.arrow import in_utc
from jobs.engine.events.columns import FILE, POSITION, Events, events_from
from jobs.engine.feed.spark_partials import (
    EVENTS,
    LATE,
    LATEST,
    SLOTS,
    START,
    WORD,
    Aggregation,
    aggregations,
    count_partials,
    feed_aggregated,
    is_one_pass_cheaper,
    part_column,
    pass_edges,
    spark_key,
    why_not,
    word_column,
)
from jobs.engine.feed.task import feed_late_events, feed_tables
from jobs.engine.program.program import TIME, Input, MeasureProgram, Program, key_column
from jobs.engine.work import (
    Failed,
    FeedReport,
    Message,
    Outcome,
    Parcel,
    Report,
    Work,
    collect_outcome,
    from_row,
    to_row,
)
from jobs.kernels.algebra.operators import (
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    COUNT,
    LIMB_BITS,
    MAX,
    MIN,
    MOMENTS,
    PRODUCT,
    SUM_FLOAT,
    SUM_INT,
)
from jobs.spark.feed_tasks import FeedTasks, feed_messages
from jobs.spark.task_partials import before_shuffle
from optimizer.catalog.sql.expressions import quote
from optimizer.rewrite.partials import make_exact_parts, microseconds, only_where, since_edge
from optimizer.windows.window import BEGINNING

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import Column, DataFrame


MESSAGE = "bucket int, kind string, content binary"
SAMPLE = 1 << 16  # events that show whether partials are fewer
FEWER = 2  # events to a partial, from which on aggregating pays
Look = Callable[[Program], Events]  # at the first of some events: their times, keys and predicates
Batches = Iterable[pa.RecordBatch]
FeedResult = tuple[FeedReport, list[Parcel]]
MOMENT = "__moment"  # the time of an event in microseconds
PRODUCT_OF = "product of "  # an aggregate that SQL has no name for
EXACT_NAMES = {
    COUNT: "count",
    SUM_INT: "whole_sum",
    SUM_FLOAT: "sum",
    MOMENTS: "moments",
    MIN: "min",
    MAX: "max",
    BIT_AND: "bit_and",
    BIT_OR: "bit_or",
    BIT_XOR: "bit_xor",
}
ONE_COLUMN = frozenset({COUNT, SUM_INT, SUM_FLOAT, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, PRODUCT})  # until it is finished


@dataclass(frozen=True)
class FrameFold:
    """How the frame lane makes partials: by Spark's own aggregates, in one pass or one per grouping, or by none."""

    reason: str = ""  # why every event is folded on its own; "" when Spark aggregates them first
    in_one: bool = False  # whether one pass serves all groupings

    def tasks(self, frame: DataFrame) -> FeedTasks:
        """Return the feed tasks for some events."""
        return EventTasks(frame) if self.reason else AggregateTasks(frame, self.in_one)


def choose_fold(look: Look, program: Program) -> FrameFold:
    """Choose how partials are made, by the first of some events."""
    reason, reason_in_one = why_not(program), why_not(program, in_one=True)
    if reason and reason_in_one:
        return FrameFold(reason)
    events = look(replace(program, values=(), unshared=()))
    count = len(events.times)
    (joint,) = (count_partials(events, aggregation) for aggregation in aggregations(program, in_one=True))
    if not reason_in_one and joint * FEWER <= count:
        partials = [] if reason else [count_partials(events, aggregation) for aggregation in aggregations(program)]
        if reason or is_one_pass_cheaper(count, partials, joint):
            return FrameFold(in_one=True)
    if reason:
        return FrameFold(reason)
    most = max(count_partials(events, aggregation) for aggregation in aggregations(program))
    return FrameFold(f"an event in {FEWER} would be a partial" if most * FEWER > count else "")


def look_by_spark(sample: DataFrame, program: Program) -> Events:
    """Return the first of some events as Spark reads them."""
    table = in_utc(prepare_inputs(sample.limit(SAMPLE), program).toArrow())
    return events_from(frame_inputs(table, program), program)


@dataclass(frozen=True)
class EventTasks:
    """Spark evaluates keys, expressions and predicates; each event then crosses to Python once, as Arrow."""

    frame: DataFrame

    def send(self, program: Program, work: Work) -> RDD[Message]:
        """Return the messages of the tasks."""
        return _send(prepare_inputs(self.frame, program), partial(_feed_events, program, work), work)


@dataclass(frozen=True)
class AggregateTasks:
    """Spark also folds the events, where it can; only their partials cross to Python."""

    frame: DataFrame
    in_one: bool = False  # whether one pass over the events serves all groupings

    def send(self, program: Program, work: Work) -> RDD[Message]:
        """Return the messages of the tasks, of one pass over the events or of one for every grouping."""
        if why_not(program, self.in_one):  # a new plan takes over tree by tree
            return EventTasks(self.frame).send(program, work)
        inputs, names = prepare_inputs(self.frame, program), _prepared_names(program)
        emitted = BEGINNING if work.kind == "adopt" else work.emitted
        passes = [
            _send(
                aggregate_events(inputs, aggregation, names, emitted),
                partial(_feed_aggregates, program, work, aggregation, counts_events=work.counts and not number),
                work,
            )
            for number, aggregation in enumerate(aggregations(program, self.in_one))
        ]
        return passes[0] if len(passes) == 1 else self.frame.sparkSession.sparkContext.union(passes)


def add_late_events(outcome: Outcome, frame: DataFrame, program: Program, work: Work) -> Outcome:
    """Look for late events once more, where feed tasks have shown that there may be some; add them to the outcome."""
    early = prepare_inputs(frame.where(_is_before(frame, program, work.emitted)), program)
    messages = _send(early, partial(_feed_late, program, work), work).collect()
    late = collect_outcome(message for message in messages if isinstance(message, Failed | Report))
    return replace(outcome, feeds=outcome.feeds + late.feeds, errors=outcome.errors + late.errors)


def _feed_events(program: Program, work: Work, batches: Batches) -> FeedResult:
    return feed_tables(program, work, _pairs(batches, program))


def _feed_late(program: Program, work: Work, batches: Batches) -> FeedResult:
    return feed_late_events(program, work, _pairs(batches, program)), []


def _feed_aggregates(
    program: Program, work: Work, aggregation: Aggregation, batches: Batches, counts_events: bool
) -> FeedResult:
    filled = [batch for batch in batches if batch.num_rows]
    if not filled:
        return FeedReport(), []
    return feed_aggregated(program, work.buckets, aggregation, in_utc(pa.Table.from_batches(filled)), counts_events)


def _is_before(frame: DataFrame, program: Program, emitted: int) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    moment = F.timestamp_micros(F.lit(emitted)).cast(frame.schema[program.time].dataType)
    return F.col(quote(program.time)) < moment


def _send(frame: DataFrame, feed: Callable[[Batches], FeedResult], work: Work) -> RDD[Message]:
    """Return the messages of a task per partition of the frame."""
    return frame.mapInArrow(partial(_message_batches, feed, work), MESSAGE).rdd.map(_message)


def _message_batches(feed: Callable[[Batches], FeedResult], work: Work, batches: Batches) -> Iterator[pa.RecordBatch]:
    for message in feed_messages(partial(feed, batches), work):
        bucket, kind, content = to_row(message)
        columns = {
            "bucket": pa.array([bucket], pa.int32()),
            "kind": [kind],
            "content": pa.array([content], pa.binary()),
        }
        yield pa.RecordBatch.from_pydict(columns)


def _message(row: Any) -> Message:
    return from_row((row.bucket, row.kind, bytes(row.content)))


def _pairs(batches: Batches, program: Program) -> Iterator[tuple[pa.Table, pa.Table]]:
    for batch in batches:
        table = in_utc(pa.Table.from_batches([batch]))
        yield _events(table, program), frame_inputs(table, program)


def _prepared_names(program: Program) -> PreparedNames:
    """Return what the prepared columns are called, none of them by a name of the user's."""
    columns = {name: f"__c{number}" for number, name in enumerate(program.columns_needed)}
    by_sql = {quote(name): column for name, column in columns.items()}
    inputs = {item.name: by_sql.get(item.sql, item.name) for item in (*program.values, *program.predicates)}
    return PreparedNames(columns[program.time], columns, inputs)


def prepare_inputs(frame: DataFrame, program: Program) -> DataFrame:
    """Select the columns of the events that are needed, and what is more than a column, evaluated by Spark."""
    names = _prepared_names(program)
    columns = [f"{quote(name)} AS {column}" for name, column in names.columns.items()]
    tests = [f"({item.sql}) AS {item.name}" for item in program.predicates if names.inputs[item.name] == item.name]
    values = [
        f"{_where_needed(item, program)} AS {item.name}"
        for item in program.values
        if names.inputs[item.name] == item.name
    ]
    return frame.selectExpr(*columns, *tests, *values, *(_arrival(frame) if program.in_rows else ()))


def _arrival(frame: DataFrame) -> list[str]:
    """Return SQL for where every event stood: in a file, where Spark can tell, and its place within the task."""
    from pyspark.errors import AnalysisException

    file = "concat(_metadata.file_path, '#', lpad(_metadata.file_block_start, 20, '0'))"
    try:
        frame.selectExpr(file)
    except AnalysisException:
        file = "''"
    return [f"{file} AS {FILE}", f"monotonically_increasing_id() AS {POSITION}"]


def _where_needed(item: Input, program: Program) -> str:
    """Return SQL for a value only where a query reads it: an error elsewhere (a division by zero) does not matter."""
    sql = {test.name: test.sql for test in program.predicates}
    wheres = program.wheres(item.name)
    if not wheres:  # of a tree that this program is without: some take over, others are rebuilt
        return f"if(FALSE, {item.sql}, NULL)"
    passed = "" if "" in wheres else " AND (" + " OR ".join(f"({sql[where]})" for where in sorted(wheres)) + ")"
    return f"if({quote(program.time)} IS NOT NULL{passed}, {item.sql}, NULL)"


def _events(table: pa.Table, program: Program) -> pa.Table:
    needed = program.columns_needed
    return table.select(list(range(len(needed)))).rename_columns(needed)


def frame_inputs(table: pa.Table, program: Program) -> pa.Table:
    """Return the columns the fold needs, from what Spark evaluated."""
    names = _prepared_names(program)
    keys = {name for grouping in program.groupings for name in grouping.keys}
    columns = {key_column(name): table[names.columns[name]] for name in keys} | {TIME: table[names.time]}
    columns |= {name: table[prepared] for name, prepared in names.inputs.items()}
    if program.in_rows:
        columns |= {name: table[name] for name in (FILE, POSITION)}
    return pa.table(columns)


class PreparedNames(NamedTuple):
    """What a prepared frame calls the time, the columns of the events, and the program's values and predicates."""

    time: str
    columns: dict[str, str]  # by the user's name
    inputs: dict[str, str]  # by the program's name


def aggregate_events(inputs: DataFrame, aggregation: Aggregation, names: PreparedNames, emitted: int) -> DataFrame:
    """Return partials by key, slice and signature."""
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    keys = [F.col(names.columns[name]).alias(spark_key(number)) for number, name in enumerate(aggregation.keys)]
    words = [F.expr(sql).alias(word_column(number)) for number, sql in enumerate(_words(aggregation, names.inputs))]
    texts = {EVENTS: "count(1)", LATEST: f"max({MOMENT})"}
    if emitted > BEGINNING:
        texts[LATE] = f"count_if({MOMENT} < {emitted}L)"
    for number, measure in enumerate(aggregation.measures):
        texts |= {part_column(number, part): sql for part, sql in enumerate(_parts(measure, names.inputs))}
    firsts = {sql: name for name, sql in reversed(texts.items())}  # what several measures need is aggregated once
    start = f"{MOMENT} - ({since_edge(pass_edges(aggregation.edges), MOMENT, SLOTS)})"
    timed = inputs.withColumn(MOMENT, F.expr(microseconds(names.time))).withColumn(START, F.expr(start))
    grouped = timed.groupBy(*keys, START, *words).agg(*(_aggregate(sql).alias(name) for sql, name in firsts.items()))
    if all(map(_has_one_column, aggregation.measures)):
        grouped = before_shuffle(grouped)
    by = grouped.columns[: -len(firsts)]
    return grouped.select(*by, *(F.col(firsts[sql]).alias(name) for name, sql in texts.items()))


def _aggregate(sql: str) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    if sql.startswith(PRODUCT_OF):
        return F.product(F.expr(sql.removeprefix(PRODUCT_OF)))
    return F.expr(sql)


def _has_one_column(measure: MeasureProgram) -> bool:
    """Whether Spark keeps nothing else of a measure's parts, while it folds, than what they come to."""
    is_wide = measure.coding == "decimal" and measure.op == SUM_INT
    return measure.op in ONE_COLUMN and not measure.carries and not is_wide


def _words(aggregation: Aggregation, names: dict[str, str]) -> list[str]:
    """Return the signature, some predicates to a number: each that is true sets its bit."""
    texts = [f"if({names[test.name]}, {1 << bit % WORD}L, 0L)" for bit, test in enumerate(aggregation.bits)]
    return [" | ".join(texts[first : first + WORD]) for first in range(0, len(texts), WORD)]


def _parts(measure: MeasureProgram, names: dict[str, str]) -> list[str]:
    """Return SQL for Spark's aggregates that make up a measure's partial, as `rows_of` takes them."""
    if measure.carries:
        return _picks(measure, names)
    value = only_where(names[measure.order] if measure.order else "1", names[measure.where] if measure.where else "")
    if measure.op == PRODUCT:
        return [f"{PRODUCT_OF}{value}"]
    if measure.coding == "decimal" and measure.op == SUM_INT:  # of ten digits more: no slice has so many events
        return [f"sum({value})"]
    return make_exact_parts(EXACT_NAMES[measure.op], value, LIMB_BITS)


def _picks(measure: MeasureProgram, names: dict[str, str]) -> list[str]:
    """Return SQL for what orders the values of a measure, and for the value that it picks by that."""
    where = names[measure.where] if measure.where else ""
    order, pick = only_where(names.get(measure.order, MOMENT), where), "min" if measure.op == MIN else "max"
    picked = [f"{pick}_by({only_where(names[measure.payload], where)}, {order})"] if measure.payload else []
    return [f"{pick}({order})", *picked]
