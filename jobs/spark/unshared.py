"""The unshared lane: queries that cannot be woven run on plain Spark, over the raw events of the windows that end."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jobs.engine.events.arrow import in_utc
from jobs.engine.events.input_files import File
from jobs.engine.program.definition import label_of
from jobs.engine.program.program import ALL, Program, Unshared, key_column
from jobs.engine.program.spark_types import INSTANT
from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.warehouse.raw_events import RawEvents
from jobs.engine.warehouse.result_files import QUERY, START, value_column, write_results
from jobs.engine.work import Outcome, Work
from jobs.host.storage import Storage
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query
from optimizer.catalog.model.render import oracle_aggregate, window_call
from optimizer.catalog.sql.expressions import quote
from optimizer.plan.definition import Plan
from optimizer.windows.window import BEGINNING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WRITTEN = "name string, bucket int, rows bigint"
Read = Callable[[Sequence[File]], "DataFrame"]  # the events of some files
Say = Callable[[str], None]


def unshared_types(catalog: Catalog, plan: Plan, events: DataFrame) -> dict[str, pa.DataType]:
    """Return the types of the answers by the label of the query, from Spark's own analysis."""
    from pyspark.sql.pandas.types import to_arrow_schema

    queries = [catalog.query(id) for id in plan.unshared]
    stream_time = catalog.streams[plan.stream].time
    typed = {query: to_arrow_schema(_answers(events, query, stream_time).schema, timezone="UTC") for query in queries}
    return {label_of(query): schema.field("value").type for query, schema in typed.items()}


@dataclass(frozen=True)
class UnsharedLane:
    """Where the events of unshared queries come from: the batch's own files, and those of the past by their time."""

    catalog: Catalog
    files: Sequence[File]
    past: Callable[[int], RawEvents]
    read: Read
    say: Say


def add_unshared_answers(outcome: Outcome, lane: UnsharedLane, program: Program, work: Work) -> Outcome:
    """Answer the unshared queries whose windows end in the batch on plain Spark; add their files to the outcome."""
    work = work.with_latest(outcome.latest)
    due = [query for query in program.unshared if ends(query, work)] if work.kind == "batch" else []
    if not due:
        return outcome
    started = time.perf_counter()
    raw = lane.past(min(first_start(query, work) for query in due))
    events = lane.read([*raw.files, *lane.files])
    files = {}
    for query in due:
        definition = lane.catalog.query(query.id)
        after = _complete_after(query, work, raw, lane.say)
        answers = _answers_of_ended(events, definition, program.time, query, work, after)
        files[query.id] = _write_answers(answers, definition, query.label, work)
    seconds = outcome.seconds | {"unshared": time.perf_counter() - started}
    return replace(outcome, unshared=outcome.unshared | files, seconds=seconds)


def ends(query: Unshared, work: Work) -> bool:
    """Return whether a window of the query ends in the batch."""
    window = query.window
    last = (work.until - window.range - window.offset) // window.slide * window.slide + window.offset
    return work.until > BEGINNING and last >= first_start(query, work)


def first_start(query: Unshared, work: Work) -> int:
    """Return where the first window starts that ends in the batch."""
    window = query.window
    if work.emitted == BEGINNING:
        return BEGINNING
    return ((work.emitted - window.range - window.offset) // window.slide + 1) * window.slide + window.offset


def _complete_after(query: Unshared, work: Work, raw: RawEvents, say: Say) -> int:
    """Return the time after which windows are answered when they end: all their events are there."""
    after = max(work.emitted, work.joined.get(query.label, BEGINNING))
    if raw.since > BEGINNING and raw.since + query.window.range - 1 > after:
        after = raw.since + query.window.range - 1
        say(f"query {query.id}: windows were left out, since files that held some of their events are gone")
    return after


def _answers_of_ended(
    events: DataFrame, query: Query, stream_time: str, unshared: Unshared, work: Work, after: int
) -> DataFrame:
    """Return the answers of the windows that end in the batch."""
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    kind, moment = events.schema[stream_time].dataType, F.col(quote(stream_time))
    inside = moment < F.timestamp_micros(F.lit(work.until)).cast(kind)
    first = first_start(unshared, work)
    if first > BEGINNING:
        inside &= moment >= F.timestamp_micros(F.lit(first)).cast(kind)
    end = F.col("start") + F.lit(query.window.range)
    return _answers(events.where(inside), query, stream_time).where((end > after) & (end <= work.until))


def _answers(events: DataFrame, query: Query, stream_time: str) -> DataFrame:
    """Return the user's query on plain Spark: its keys, where the window starts, its answer."""
    view = f"heddle_{uuid.uuid4().hex}"
    keys = [f"{quote(key)} AS k{number}" for number, key in enumerate(query.group_by)]
    start = "unix_micros(cast(window.start AS TIMESTAMP)) AS start"
    value = f"{oracle_aggregate(query, stream_time)} AS value"
    grouping = ", ".join([*map(quote, query.group_by), window_call(query.window, stream_time)])
    where = f" WHERE {query.where}" if query.where else ""
    events.createOrReplaceTempView(view)
    try:
        return events.sparkSession.sql(
            f"SELECT {', '.join([*keys, start, value])} FROM {view}{where} GROUP BY {grouping}"
        )
    finally:
        events.sparkSession.catalog.dropTempView(view)


def _write_answers(answers: DataFrame, query: Query, label: str, work: Work) -> list[DataFile]:
    """Write result files by tasks, as the engine writes its own."""
    grouping = ",".join(query.group_by or (ALL,))
    keys = list(query.group_by)

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        filled = [batch for batch in batches if batch.num_rows]
        context = TaskContext.get()
        if filled:
            bucket = context.partitionId() % work.buckets if context else 0
            table = _result_table(in_utc(pa.Table.from_batches(filled)), keys, label)
            file = write_results(Storage(work.root), work.batch, bucket, grouping, [table])
            yield pa.RecordBatch.from_pydict(
                {"name": [file.name], "bucket": pa.array([bucket], pa.int32()), "rows": [file.rows]}
            )

    rows: list[Any] = answers.mapInArrow(write, WRITTEN).collect()
    return [DataFile(row.name, row.bucket, row.rows, work.batch, grouping) for row in rows]


def _result_table(table: pa.Table, keys: Sequence[str], label: str) -> pa.Table:
    columns: dict[str, Any] = {QUERY: pa.repeat(label, table.num_rows).dictionary_encode()}
    columns |= {key_column(key): table[f"k{number}"] for number, key in enumerate(keys)}
    columns[START] = table["start"].cast(pa.int64()).cast(INSTANT)
    columns[value_column(table["value"].type)] = table["value"]
    return pa.table(columns)
