"""Queries over a Spark DataFrame: one batch by the frame lane, its answers read from files that outlive the call."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

from jobs.engine.batch.run_batch import run_batch
from jobs.engine.events.arrow import in_utc
from jobs.engine.events.columns import events_from
from jobs.engine.program.compile import compile_program
from jobs.engine.program.program import Program
from jobs.engine.program.queries import move_unfoldable
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.statements import PublishedFiles, evaluated_statement
from jobs.host.storage import Storage
from jobs.measure.machine_prices import load_prices
from jobs.measure.recent_events import MOST, RecentEvents, measuring_program
from jobs.spark.choose_lane import frame_types
from jobs.spark.errors import as_user_error
from jobs.spark.executor import SparkExecutor
from jobs.spark.frame_lane import choose_fold, frame_inputs, prepare_inputs
from jobs.spark.result_frame import answers_frame
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan
from optimizer.planning.choices import ASSUMED_RATE, STRATEGY, TECHNIQUE
from optimizer.planning.stream import plan_stream

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame


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
    tasks = choose_fold(events, program).tasks(events)
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
