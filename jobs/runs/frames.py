"""Queries over a table of a Python program: planned by its own events.

A table in memory is answered in this process, and nothing is written down. A Spark DataFrame is one batch by the
frame lane, whose answers are read from files that outlive the call.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import uuid
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from jobs.engine.batch.in_memory import answer_table, by_label, statement_rows
from jobs.engine.batch.run_batch import run_batch
from jobs.engine.events.arrow import in_utc
from jobs.engine.events.columns import events_from
from jobs.engine.events.expressions import NotExact, parse_cached
from jobs.engine.events.file_types import table_types
from jobs.engine.events.parquet import with_inputs
from jobs.engine.program.compile import compile_program
from jobs.engine.program.program import Program
from jobs.engine.program.queries import move_unfoldable
from jobs.engine.program.spark_types import plain_type
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.read_answers import show_columns
from jobs.engine.warehouse.statements import PublishedFiles, evaluated_statement
from jobs.host.storage import Storage
from jobs.kernels.arrays import Ints
from jobs.measure.machine_prices import load_prices
from jobs.measure.recent_events import MOST, RecentEvents, measuring_program
from jobs.spark.choose_lane import frame_types
from jobs.spark.executor import SparkExecutor
from jobs.spark.frame_lane import choose_fold, frame_inputs, look_by_spark, prepare_inputs
from jobs.spark.result_frame import answers_frame
from jobs.spark.session import as_user_error
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.spark_types.parquet import names_alike
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan
from optimizer.plan.measures import demands_of
from optimizer.planning.choices import ASSUMED_RATE, STRATEGY, TECHNIQUE
from optimizer.planning.stream import plan_stream

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame


LARGE = 1 << 25  # rows of a table that are worth the whole search; it would take longer than smaller ones
SHORT_SEARCH = "tri_weave"
STRETCHES = 8  # parts of a table that are looked at before it is planned
VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
ONLY_SPARK = "only Spark evaluates that; give the events as a Spark DataFrame"


def columns_read(catalog: Catalog) -> list[str]:
    """Return the columns of its one stream that the queries of a catalog read, as they write them."""
    (stream,) = catalog.streams
    unshared = catalog.unshared(stream)
    if unshared:
        raise HeddleError(f"{', '.join(unshared)}: {ONLY_SPARK}")
    names = {catalog.streams[stream].time}
    for shape in catalog.queries.shapes:
        names.update(shape.group_by)
        texts = {text for measure in demands_of(shape) for text in (*measure.arguments, measure.where)} - {"", "*"}
        names.update(column.parts[0].name for text in texts for column in parse_cached(text).find_all(exp.Column))
    return sorted(names)


def plan_table(catalog: Catalog, events: pa.Table) -> Plan:
    """Plan the queries of a catalog for one table of events, by what some of them show of its keys and predicates."""
    (stream,) = catalog.streams
    alike = names_alike(events.column_names)
    if alike:
        raise HeddleError(f"the columns {' and '.join(alike)} are one to Spark; rename one of them")
    recent = _look_at(catalog, stream, events)
    rate = _rate(events, catalog.streams[stream].time) or ASSUMED_RATE
    prices = load_prices()
    one_batch = prices.for_run(events.num_rows, rate) if prices else None
    strategy = STRATEGY if events.num_rows >= LARGE else SHORT_SEARCH
    return plan_stream(catalog, stream, rate, strategy, TECHNIQUE, recent=recent, prices=one_batch)


def run_table(catalog: Catalog, events: pa.Table) -> dict[str, pa.Table]:
    """Answer every statement of a catalog over one table of events, all windows closed at its end.

    Rows are in the order of window and keys, with the columns and types of the statement's SQL."""
    plan = plan_table(catalog, events)
    program = _compile(catalog, plan, events.schema)
    answered = by_label(answer_table(program, events))
    types = {name: str(kind) for name, kind in program.types.items()}
    ranks: dict[int, Ints] = {}
    tables = {}
    for id in catalog.statements:
        statement = evaluated_statement(catalog, id, types)
        assert statement is not None  # the program has the types of all its statements
        tables[id] = show_columns(statement, statement_rows(statement, answered, ranks))
    return tables


def _compile(catalog: Catalog, plan: Plan, schema: pa.Schema) -> Program:
    try:
        program = compile_program(catalog, plan, table_types(catalog, plan, schema))
    except NotExact as reason:
        raise HeddleError(f"{reason}: {ONLY_SPARK}") from None
    if program.unshared:
        raise HeddleError(f"{', '.join(query.id for query in program.unshared)}: {ONLY_SPARK}")
    return program


def _look_at(catalog: Catalog, stream: str, events: pa.Table) -> RecentEvents | None:
    """Return some stretches of the events with their keys and predicates; None where that fails, as the run will."""
    program = measuring_program(catalog, stream)
    length = min(MOST // STRETCHES, events.num_rows)
    starts = np.unique(np.linspace(0, events.num_rows - length, STRETCHES).astype(np.int64) // max(1, length)) * length
    try:
        parts = [with_inputs(events.slice(start, length), program) for start in starts.tolist()]
        looked_at = events_from(pa.concat_tables(parts), program)
    except (HeddleError, NotExact, KeyError, pa.ArrowException):
        return None
    if not len(looked_at.times):
        return None
    whole = not looked_at.without_time  # else the places of the cuts are others
    cuts = tuple(np.cumsum([part.num_rows for part in parts]).tolist()) if whole else ()
    return RecentEvents(looked_at, {test.sql: test.name for test in program.predicates}, cuts=cuts)


def _rate(events: pa.Table, time: str) -> float | None:
    """Return events per second; None where the time is no time, which the run complains about."""
    if time not in events.column_names or not pa.types.is_timestamp(events.schema.field(time).type):
        return None
    ends = pc.min_max(events[time]).as_py()
    if ends["min"] is None or ends["min"] == ends["max"]:
        return None
    return float(events.num_rows / (ends["max"] - ends["min"]).total_seconds())


def as_spark_reads(events: pa.Table) -> pa.Table:
    """Return a table in the types that Spark has: times in microseconds, texts of one kind, dictionaries of texts only.

    >>> as_spark_reads(pa.table({"ts": pa.array([1500], pa.timestamp("ns"))}))["ts"].type
    TimestampType(timestamp[us])
    """
    for number, field in enumerate(events.schema):
        kind = VIEWS.get(field.type, plain_type(field.type))
        zoned = pa.types.is_timestamp(kind) and kind.tz and field.type.unit == "us"
        if field.type != kind and not zoned and not _is_text_dictionary(events[number]):
            events = events.set_column(number, field.name, events[number].cast(kind, safe=False))
    return events


def _is_text_dictionary(column: pa.ChunkedArray) -> bool:
    """Return whether a column has its texts by dictionaries, none with a null among its entries: Arrow counts it as a
    value, and unifies no such dictionaries."""
    if not (pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type)):
        return False
    return not any(chunk.dictionary.null_count for chunk in column.chunks)


def plan_frame(catalog: Catalog, events: DataFrame) -> Plan:
    """Plan the queries of a catalog for a DataFrame, by what its first events show of its keys and predicates."""
    from pyspark.errors import PySparkException

    (stream,) = catalog.streams
    program = measuring_program(catalog, stream)
    try:
        read = in_utc(prepare_inputs(events, program).limit(MOST).toArrow())
    except PySparkException as error:
        raise as_user_error(events.sparkSession, error) from None
    looked_at = events_from(frame_inputs(read, program), program)
    names = {test.sql: test.name for test in program.predicates}
    recent = RecentEvents(looked_at, names) if len(looked_at.times) else None
    rate = (recent.rate if recent else None) or ASSUMED_RATE
    return plan_stream(catalog, stream, rate, STRATEGY, TECHNIQUE, recent=recent, prices=load_prices())


def run_frame(catalog: Catalog, events: DataFrame, folder: str = "") -> dict[str, DataFrame]:
    """Answer every statement of a catalog over a DataFrame, all windows closed at its end.

    Answers are files in the folder, which all machines of Spark must see; without one, in a folder of this machine that
    goes when the process ends. A statement that cannot be woven is left to Spark as it is."""
    from pyspark.errors import PySparkException

    try:
        return _run_frame(catalog, events, folder)
    except PySparkException as error:
        raise as_user_error(events.sparkSession, error) from None


def _run_frame(catalog: Catalog, events: DataFrame, folder: str) -> dict[str, DataFrame]:
    context = _require_context(events, folder)
    plan = replace(plan_frame(catalog, events), unshared=())
    types = frame_types(catalog, plan, events)
    woven = replace(move_unfoldable(catalog, plan, types), unshared=())
    program = compile_program(catalog, woven, types)
    storage = Storage(folder or _temporary_folder())
    tasks = choose_fold(partial(look_by_spark, events), program).tasks(events)
    empty = Manifest(buckets=context.defaultParallelism)
    manifest = run_batch(storage, empty, _closing_all(program), 0, SparkExecutor(context, tasks), last=True)
    answered = {str(id) for tree in woven.trees for id in tree.queries}
    frames = {}
    for id in catalog.statements:
        statement = evaluated_statement(catalog, id, manifest.types)
        if statement is None or not statement.queries.keys() <= answered:
            frames[id] = _ask_spark(events, catalog, id)
            continue
        files = tuple(file for file in manifest.results if file.grouping == statement.grouping)
        frames[id] = answers_frame(events.sparkSession, PublishedFiles(statement, storage, files))
    return frames


def _closing_all(program: Program) -> Program:
    """Return a program whose last batch lets every window end: the watermark is later than the latest event."""
    return replace(program, lateness=-max((tree.reach for _, tree in program.roots() if not tree.rows), default=0))


def _require_context(events: DataFrame, folder: str) -> SparkContext:
    context: SparkContext | None = getattr(events.sparkSession, "_sc", None)
    if context is None:
        raise HeddleError("a DataFrame of Spark Connect has no tasks of its own; use a session with a master")
    if not folder and not str(context.master).startswith("local"):
        raise HeddleError(f"Spark runs on {context.master}; give a folder= that all its machines see, for the answers")
    return context


def _temporary_folder() -> str:
    folder = tempfile.mkdtemp(prefix="heddle-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _ask_spark(events: DataFrame, catalog: Catalog, statement: str) -> DataFrame:
    """Return the answers of a statement as plain Spark gives them."""
    (stream,) = catalog.streams
    view = f"heddle_{uuid.uuid4().hex}"
    events.createOrReplaceTempView(view)
    declared = catalog.statements[statement]
    try:
        answers = events.sparkSession.sql(f"WITH {stream} AS (SELECT * FROM {view}) {declared.sql}")
        return answers.where(declared.having) if declared.having else answers
    finally:
        events.sparkSession.catalog.dropTempView(view)
