"""The unshared lane: queries that cannot be woven run on plain Spark, over the raw events of the windows that end."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.arrow import in_utc
from jobs.engine.program.program import Program, Unshared, grouping_name, key_column
from jobs.engine.program.queries import label_of
from jobs.engine.program.spark_types import INSTANT
from jobs.engine.sources.contract import File
from jobs.engine.warehouse.consumed_files import RawEvents
from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.warehouse.result_files import QUERY, START, revise_tables, value_column, write_results
from jobs.engine.work import Outcome, Work
from jobs.host.storage import Storage
from optimizer.catalog.model.catalog import Catalog, oracle_aggregate, window_call
from optimizer.catalog.model.query import Query
from optimizer.catalog.sql.expressions import quote
from optimizer.plan.definition import Plan
from optimizer.windows.window import BEGINNING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WRITTEN = "query int, bucket int, name string, rows bigint"
MOST = 24  # queries in one statement: Spark's generated code is slow beyond
Read = Callable[[Sequence[File]], "DataFrame"]  # the events of some files
Say = Callable[[str], None]


def unshared_types(catalog: Catalog, plan: Plan, events: DataFrame) -> dict[str, pa.DataType]:
    """Return the types of the answers by the label of the query, from Spark's own analysis."""
    from pyspark.sql.pandas.types import to_arrow_schema

    queries = [catalog.query(id) for id in plan.unshared]
    stream_time = catalog.streams[plan.stream].time
    typed = {query: to_arrow_schema(_answers(events, [query], stream_time).schema, timezone="UTC") for query in queries}
    return {label_of(query): schema.field(_value(0)).type for query, schema in typed.items()}


@dataclass(frozen=True)
class UnsharedLane:
    """Where the events of unshared queries come from: the batch's own files, and those of the past by their time."""

    catalog: Catalog
    files: Sequence[File]
    past: Callable[[int], RawEvents]
    read: Read
    say: Say


@dataclass(frozen=True)
class Due:
    """A query some of whose windows end in the batch, and the time after which they are answered."""

    definition: Query
    label: str
    after: int


def add_unshared_answers(outcome: Outcome, lane: UnsharedLane, program: Program, work: Work) -> Outcome:
    """Answer the unshared queries whose windows end in the batch on plain Spark; add their files to the outcome."""
    work = work.with_latest(outcome.latest)
    due = [query for query in program.unshared if ends(query, work)] if work.kind != "adopt" else []
    if not due:
        return outcome
    started = time.perf_counter()
    raw = lane.past(min(first_start(query, work) for query in due))
    events = lane.read([*raw.files, *lane.files])
    files: dict[str, list[DataFile]] = {}
    for queries in group_alike(due, lane.catalog):
        statement = [
            Due(lane.catalog.query(query.id), query.label, _complete_after(query, work, raw, lane.say))
            for query in queries
        ]
        answers = _answers_of_ended(events, statement, program.time, first_start(queries[0], work), work.until)
        files |= dict(zip((query.id for query in queries), _write_answers(answers, statement, work), strict=True))
    seconds = outcome.seconds | {"unshared": time.perf_counter() - started}
    return replace(outcome, unshared=outcome.unshared | files, seconds=seconds)


def group_alike(queries: Iterable[Unshared], catalog: Catalog) -> list[list[Unshared]]:
    """Return the queries by statement: those with the same groups, windows and predicate read the events once."""
    alike: dict[tuple[object, ...], list[Unshared]] = {}
    for query in queries:
        definition = catalog.query(query.id)
        alike.setdefault((definition.group_by, definition.window, definition.where), []).append(query)
    return [group[at : at + MOST] for group in alike.values() for at in range(0, len(group), MOST)]


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
    events: DataFrame, statement: Sequence[Due], stream_time: str, first: int, until: int
) -> DataFrame:
    """Return the answers of the windows that end in the batch, from the events that these windows hold."""
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    kind, moment = events.schema[stream_time].dataType, F.col(quote(stream_time))
    inside = moment < F.timestamp_micros(F.lit(until)).cast(kind)
    if first > BEGINNING:
        inside &= moment >= F.timestamp_micros(F.lit(first)).cast(kind)
    end = F.col("start") + F.lit(statement[0].definition.window.range)
    answers = _answers(events.where(inside), [due.definition for due in statement], stream_time)
    return answers.where((end > min(due.after for due in statement)) & (end <= until))


def _answers(events: DataFrame, queries: Sequence[Query], stream_time: str) -> DataFrame:
    """Return queries that are alike on plain Spark: their keys, where the window starts, the answer to each."""
    view, query = f"heddle_{uuid.uuid4().hex}", queries[0]
    keys = [f"{quote(key)} AS k{number}" for number, key in enumerate(query.group_by)]
    window = window_call(query.window, stream_time)  # not `window`: a column of the events may be called so
    start = f"unix_micros(cast({window}.start AS TIMESTAMP)) AS start"
    values = [f"{oracle_aggregate(each, stream_time)} AS {_value(number)}" for number, each in enumerate(queries)]
    grouping = ", ".join([*map(quote, query.group_by), window])
    where = f" WHERE {query.where}" if query.where else ""
    events.createOrReplaceTempView(view)
    try:
        return events.sparkSession.sql(
            f"SELECT {', '.join([*keys, start, *values])} FROM {view}{where} GROUP BY {grouping}"
        )
    finally:
        events.sparkSession.catalog.dropTempView(view)


def _value(number: int) -> str:
    return f"value{number}"


def _write_answers(answers: DataFrame, statement: Sequence[Due], work: Work) -> list[list[DataFile]]:
    """Write result files by tasks, as the engine writes its own; return those of each query."""
    keys = statement[0].definition.group_by
    starts_after = {due.label: due.after - due.definition.window.range for due in statement}
    write = partial(_write_partition, work, keys, starts_after)
    rows: list[Any] = answers.mapInArrow(write, WRITTEN).collect()
    files: list[list[DataFile]] = [[] for _ in statement]
    for row in rows:
        grouping, revised = grouping_name(keys), bool(work.touched)
        files[row.query].append(DataFile(row.name, row.bucket, row.rows, work.batch, grouping, revised=revised))
    return files


def _write_partition(
    work: Work, keys: Sequence[str], starts_after: Mapping[str, int], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Write the answers of a partition, a file per query, by its label those that start after a time; yield where
    each file is."""
    from pyspark import TaskContext

    filled = [batch for batch in batches if batch.num_rows]
    if not filled:
        return
    context = TaskContext.get()
    bucket = context.partitionId() % work.buckets if context else 0
    answered = in_utc(pa.Table.from_batches(filled))
    touched = [file for file in work.touched if file.grouping == grouping_name(keys)]
    for number, (label, before) in enumerate(starts_after.items()):
        ended = answered.filter(pc.greater(answered["start"], before))
        tables = [_result_table(ended, keys, label, _value(number))]
        if work.touched:
            tables = revise_tables(Storage(work.root), touched, work.batch, tables)
        if any(table.num_rows for table in tables):
            file = write_results(Storage(work.root), work.batch, bucket, grouping_name(keys), tables)
            place = {"query": pa.array([number], pa.int32()), "bucket": pa.array([bucket], pa.int32())}
            yield pa.RecordBatch.from_pydict({**place, "name": [file.name], "rows": [file.rows]})


def _result_table(table: pa.Table, keys: Sequence[str], label: str, value: str) -> pa.Table:
    columns: dict[str, Any] = {QUERY: pa.repeat(label, table.num_rows).dictionary_encode()}
    columns |= {key_column(key): table[f"k{number}"] for number, key in enumerate(keys)}
    columns[START] = table["start"].cast(pa.int64()).cast(INSTANT)
    columns[value_column(table[value].type)] = table[value]
    return pa.table(columns)
