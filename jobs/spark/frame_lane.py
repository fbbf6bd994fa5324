"""The frame lane: events of any DataFrame, aggregated by Spark itself where that is exact and pays, else folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jobs.engine.events.columns import FILE, POSITION, events_from
from jobs.engine.events.parquet import columns_needed
from jobs.engine.feed.spark_partials import feed_aggregated
from jobs.engine.feed.spark_pass import Aggregation, aggregations, cells, why_not
from jobs.engine.feed.task import feed_tables, late_events
from jobs.engine.program.clock import BEGINNING
from jobs.engine.program.program import ALL, TIME, Input, Program
from jobs.engine.slices.exchange import Parcel
from jobs.engine.work import Executor, FeedReport, Outcome, Work, report_from_json, report_to_json
from jobs.spark.aggregates import aggregated
from jobs.spark.executor import Feeding, Item, gather, guarded
from optimizer.catalog.sql.expressions import quote

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import Column, DataFrame

ITEM = "bucket int, kind string, content binary"
SAMPLE = 1 << 16  # events that tell whether aggregates are fewer
FEWER = 2  # events to a partial, from which on aggregating pays
Batches = Iterable[pa.RecordBatch]
Fed = tuple[FeedReport, list[Parcel]]


def fold_reason(sample: DataFrame, program: Program) -> str:
    """Why every event is folded on its own; "" when Spark aggregates them first."""
    reason = why_not(program)
    if reason:
        return reason
    table = prepared(sample.limit(SAMPLE), program).toArrow()
    events = events_from(frame_inputs(table, program), program)
    most = max((cells(events, found) for found in aggregations(program)), default=0)
    return f"an event in {FEWER} would be a partial" if most * FEWER > len(events.times) else ""


def by_events(frame: DataFrame) -> Feeding:
    """Spark evaluates keys, expressions and predicates; each event then crosses once, as Arrow."""

    def feeding(program: Program, work: Work) -> RDD[Item]:
        def task(batches: Batches) -> Fed:
            return feed_tables(program, work, _pairs(batches, program))

        return _mapped(prepared(frame, program), task, work.told)

    return feeding


def by_aggregates(frame: DataFrame) -> Feeding:
    """Spark also folds the events, where it can; only their partials cross."""

    def feeding(program: Program, work: Work) -> RDD[Item]:
        if why_not(program):  # a new plan takes over tree by tree
            return by_events(frame)(program, work)
        inputs, names = prepared(frame, program), _names(program)
        emitted = work.emitted if work.carried is None else BEGINNING
        passes = [
            _mapped(
                aggregated(inputs, found, names, emitted), _task(program, work.buckets, found, not number), work.told
            )
            for number, found in enumerate(aggregations(program))
        ]
        return passes[0] if len(passes) == 1 else frame.sparkSession.sparkContext.union(passes)

    return feeding


def _task(program: Program, buckets: int, found: Aggregation, counting: bool) -> Callable[[Batches], Fed]:
    def task(batches: Batches) -> Fed:
        held = [batch for batch in batches if batch.num_rows]
        if not held:
            return FeedReport(), []
        return feed_aggregated(program, buckets, found, pa.Table.from_batches(held), counting)

    return task


def with_late(execute: Executor, frame: DataFrame) -> Executor:
    """An executor that looks for late events once more, where aggregates have shown that there may be some."""

    def executed(program: Program, work: Work) -> Outcome:
        outcome = execute(program, work)
        if not outcome.errors and any(report.early for report in outcome.feeds):
            before = prepared(frame.where(_before(frame, program, work.emitted)), program)
            found = _mapped(before, lambda batches: (late_events(program, work, _pairs(batches, program)), []))
            late = gather(item for _, item in found.collect())
            outcome.feeds += late.feeds
            outcome.errors += late.errors
        return outcome

    return executed


def _before(frame: DataFrame, program: Program, emitted: int) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    moment = F.timestamp_micros(F.lit(emitted)).cast(frame.schema[program.time].dataType)
    return F.col(quote(program.time)) < moment


def _mapped(frame: DataFrame, task: Callable[[Batches], Fed], told: Iterable[int] = ()) -> RDD[Item]:
    """What a task of ours makes of a partition: items for the exchange."""

    def mapped(batches: Batches) -> Iterator[pa.RecordBatch]:
        for bucket, item in guarded(lambda: task(batches), told):
            yield _encoded(bucket, item)

    return frame.mapInArrow(mapped, ITEM).rdd.map(_decoded)


def _pairs(batches: Batches, program: Program) -> Iterator[tuple[pa.Table, pa.Table]]:
    for batch in batches:
        table = pa.Table.from_batches([batch])
        yield _events(table, program), frame_inputs(table, program)


def _names(program: Program) -> dict[str, str]:
    """What the prepared events call the time (under ""), the keys, the values and the predicates."""
    place = {name: f"__c{number}" for number, name in enumerate(columns_needed(program))}
    inputs = {item.name: place.get(item.sql, item.name) for item in (*program.values, *program.predicates)}
    return place | inputs | {"": place[program.time]}


def prepared(frame: DataFrame, program: Program) -> DataFrame:
    """The columns of the events that are needed, and what is more than a column, evaluated by Spark."""
    needed = columns_needed(program)
    columns = [f"{quote(name)} AS __c{number}" for number, name in enumerate(needed)]
    tests = [f"({item.sql}) AS {item.name}" for item in program.predicates if item.sql not in needed]
    values = [f"{_guarded(item, program)} AS {item.name}" for item in program.values if item.sql not in needed]
    return frame.selectExpr(*columns, *tests, *values, *(_arrival(frame) if program.in_rows else ()))


def _arrival(frame: DataFrame) -> list[str]:
    """Where every event stood: in a file, where Spark can tell, and before or after others of the same task."""
    from pyspark.errors import AnalysisException

    file = "concat(_metadata.file_path, '#', lpad(_metadata.file_block_start, 20, '0'))"
    try:
        frame.selectExpr(file)
    except AnalysisException:
        file = "''"
    return [f"{file} AS {FILE}", f"monotonically_increasing_id() AS {POSITION}"]


def _guarded(item: Input, program: Program) -> str:
    """A value only where a query looks at it: what Spark refuses elsewhere (a division by zero) does not matter."""
    sql = {test.name: test.sql for test in program.predicates}
    wheres = program.wheres(item.name)
    if not wheres:  # of a tree that this program is without: some take over, others are rebuilt
        return f"if(FALSE, {item.sql}, NULL)"
    passed = "" if "" in wheres else " AND (" + " OR ".join(f"({sql[where]})" for where in sorted(wheres)) + ")"
    return f"if({quote(program.time)} IS NOT NULL{passed}, {item.sql}, NULL)"


def _events(table: pa.Table, program: Program) -> pa.Table:
    needed = columns_needed(program)
    return table.select(list(range(len(needed)))).rename_columns(needed)


def frame_inputs(table: pa.Table, program: Program) -> pa.Table:
    """What the fold wants, from what Spark evaluated."""
    events = _events(table, program)
    keys = {name for grouping in program.groupings for name in grouping.keys if name != ALL}
    columns = {name: events[name] for name in keys} | {TIME: events[program.time]}
    for item in (*program.values, *program.predicates):
        columns[item.name] = table[item.name] if item.name in table.column_names else events[item.sql]
    if program.in_rows:
        columns |= {name: table[name] for name in (FILE, POSITION)}
    return pa.table(columns)


def _encoded(bucket: int, item: Any) -> pa.RecordBatch:
    if isinstance(item, bytes):
        kind, content = "parcel", item
    elif isinstance(item, int):
        kind, content = "latest", str(item).encode()
    elif isinstance(item, str):
        kind, content = "error", item.encode()
    else:
        kind, content = "report", report_to_json(item).encode()
    return pa.RecordBatch.from_pydict(
        {"bucket": pa.array([bucket], pa.int32()), "kind": [kind], "content": pa.array([content], pa.binary())}
    )


def _decoded(row: Any) -> Item:
    if row.kind == "parcel":
        return row.bucket, bytes(row.content)
    text = bytes(row.content).decode()
    decode: dict[str, Callable[[str], Any]] = {"error": str, "latest": int, "report": report_from_json}
    return row.bucket, decode[row.kind](text)
