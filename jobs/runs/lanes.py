"""Lanes: which one every query of a stream takes, and why; as a run had it, or as the files that are there let
expect.

On Spark, a plan's batches run by both: here are the executors that evaluate its files and frames.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from jobs.engine.events.columns import Events, events_from
from jobs.engine.events.expressions import NotExact
from jobs.engine.events.file_types import reasons_in_catalog
from jobs.engine.events.parquet import EventReader, name_long_groups, split_of, splits_of, with_inputs
from jobs.engine.program.program import Program
from jobs.engine.program.queries import of_lane
from jobs.engine.sources import list_input_files
from jobs.engine.sources.contract import File
from jobs.engine.warehouse.consumed_files import PastBatch, RawEvents
from jobs.engine.work import Executor
from jobs.host.say import Say
from jobs.runs.run import Prepared
from jobs.spark.choose_lane import choose_lanes, queries_by_lane
from jobs.spark.executor import SparkExecutor
from jobs.spark.feed_tasks import BothLanes, FeedTasks, FileTasks, PastTasks
from jobs.spark.frame_lane import SAMPLE, FrameFold, choose_fold, look_by_spark
from jobs.spark.stream_frames import stream_frame
from jobs.spark.unshared import UnsharedLane
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


NAMED = 20  # reasons that have a line of their own
UNSHARED = "plain Spark answers it, from the events themselves"
Rows = dict[str, dict[str, str]]  # by query: its lane, and why if that is not the file lane
AGGREGATED = "Spark aggregates the events before they are folded"
AGGREGATED_IN_ONE = f"{AGGREGATED}, in one pass for all groupings"
FOLDED = "every event is folded on its own"


def query_rows(program: Program, reasons: Mapping[str, str], unshared: Mapping[str, str]) -> Rows:
    """Return the lane of every query of a program.

    `reasons` are those of the frame lane's queries, `unshared` those of queries that the plan leaves to Spark."""
    woven = [query.id for grouping in program.groupings for tree in grouping.trees for query in tree.queries]
    return _rows(woven, [query.id for query in program.unshared], reasons, unshared)


def expected_rows(catalog: Catalog, plan: Plan) -> Rows:
    """Return the lane that every query of a plan would take, by the first file that is there; nothing without one."""
    path = _first_file(catalog, plan.stream)
    if not path and catalog.streams[plan.stream].in_parquet:
        return {}
    try:
        _, reasons = queries_by_lane(catalog, plan, path)
    except HeddleError:  # the evaluation will complain about the file
        return {}
    woven = [str(id) for tree in plan.trees for id in tree.queries]
    return _rows(woven, plan.unshared, reasons, plan.reasons)


def expected_long_groups(catalog: Catalog, plan: Plan) -> list[str]:
    """Return a line where the largest file that is there has a row group that keeps the cores of a machine waiting."""
    source = catalog.streams[plan.stream]
    cores = os.cpu_count() or 1
    try:
        largest = max(list_input_files(source), key=lambda file: file.size, default=None) if source.in_parquet else None
        return name_long_groups(splits_of([largest], cores), cores) if largest else []
    except HeddleError:  # the evaluation will complain about the file
        return []


def spark_has_work(catalog: Catalog, stream: str, lane: str = "auto") -> bool:
    """Return whether Spark reads or answers something itself, so that it pays to let Java compile that well."""
    if lane == "frame" or not catalog.streams[stream].in_parquet or catalog.unshared(stream):
        return True
    path = _first_file(catalog, stream)
    try:
        return bool(path and reasons_in_catalog(catalog, stream, path))
    except (HeddleError, NotExact):  # the evaluation will complain about the file
        return False


def _first_file(catalog: Catalog, stream: str) -> str:
    source = catalog.streams[stream]
    try:
        return next((file.path for file in list_input_files(source)), "") if source.in_parquet else ""
    except HeddleError:
        return ""


def _rows(woven: Iterable[str], unshared: Iterable[str], reasons: Mapping[str, str], plan: Mapping[str, str]) -> Rows:
    rows = {id: {"lane": "frame" if id in reasons else "file", "reason": reasons.get(id, "")} for id in woven}
    rows |= {id: {"lane": "unshared", "reason": plan.get(id, UNSHARED)} for id in unshared}
    return dict(sorted(rows.items()))


def lane_lines(rows: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return a line for every reason that keeps queries out of the file lane, where some are in it.

    >>> lane_lines({"a": {"lane": "file", "reason": ""}, "b": {"lane": "frame", "reason": "x / 2"}})
    ['frame lane: b, since only Spark evaluates x / 2']
    """
    by_reason: dict[str, list[str]] = {}
    for id, row in rows.items():
        if row["lane"] == "frame":
            by_reason.setdefault(row["reason"], []).append(id)
    lines = [
        f"frame lane: {_name_some(ids)}, since {_because(reason)}" for reason, ids in list(by_reason.items())[:NAMED]
    ]
    return [*lines, f"... and {len(by_reason) - NAMED} reasons more"] if len(by_reason) > NAMED else lines


def _because(reason: str) -> str:
    return f"{reason} says so" if reason.startswith("--") else f"only Spark evaluates {reason}"


def _name_some(ids: Sequence[str]) -> str:
    named = ", ".join(ids[:3])
    return named if len(ids) <= 3 else f"{named} and {len(ids) - 3} more"


@dataclass(frozen=True)
class FrameReader:
    """Reads files of a stream as a DataFrame."""

    spark: SparkSession
    catalog: Catalog
    stream: str
    schema: StructType | None = None  # of the first files, where Spark reads them

    def read(self, files: Sequence[File]) -> DataFrame:
        """Return the events of some files."""
        return stream_frame(self.spark, self.catalog, self.stream, files, self.schema)


@dataclass(frozen=True)
class SparkLane:
    """Makes the executors of a plan's batches; before files have told more, Spark reads all events."""

    reader: FrameReader
    raw_since: Callable[[int], RawEvents]  # the events that the batches so far have taken
    note: Say  # a line for the report
    reads_files: bool = False  # whether tasks read files themselves
    feeds_trees: bool = False  # whether Spark evaluates what some trees fold
    has_unshared: bool = False
    frame_fold: FrameFold = field(default_factory=FrameFold)  # how the frame lane makes partials

    def execute(self, files: Sequence[File]) -> Executor:
        """Return an executor for these files; queries that are not woven run beside it."""
        context, read = self.reader.spark.sparkContext, self.reader.read
        unshared = UnsharedLane(self.reader.catalog, files, self.raw_since, read, self.note)
        if not files:
            return SparkExecutor(context, None, unshared=unshared)
        return SparkExecutor(context, self._feed_tasks(files), partial(read, files), unshared)

    def execute_alone(self, files: Sequence[File]) -> Executor:
        """Return an executor for these files; queries that are not woven read them alone, too."""
        return replace(self, raw_since=_nothing_before).execute(files)

    def replay(self, batches: Sequence[PastBatch]) -> Executor:
        """Return an executor that takes in batches of the past."""
        context = self.reader.spark.sparkContext
        tasks = [(past, self._feed_tasks(past.files)) for past in batches]
        return SparkExecutor(context, PastTasks(context, tasks) if tasks else None)

    def _feed_tasks(self, files: Sequence[File]) -> FeedTasks:
        context = self.reader.spark.sparkContext
        if not self.reads_files:
            return self._frame_tasks(files)
        tasks = context.defaultParallelism
        heaps = splits_of(files, tasks)
        for line in name_long_groups(heaps, tasks):
            self.note(line)
        from_files = FileTasks(context, heaps)
        if not self.feeds_trees and not self.has_unshared:
            return from_files
        return BothLanes(from_files, self._frame_tasks(files) if self.feeds_trees else None)

    def _frame_tasks(self, files: Sequence[File]) -> FeedTasks:
        return self.frame_fold.tasks(self.reader.read(files))


def _look(reader: FrameReader, file: File, program: Program) -> Events:
    """Return the first events of a file: by our own reader where it evaluates keys and predicates, else by Spark."""
    if reader.catalog.streams[reader.stream].in_parquet:
        with suppress(HeddleError, NotExact, KeyError, pa.ArrowException, StopIteration):
            first = next(EventReader(program).read(split_of(file)))
            return events_from(with_inputs(first.slice(0, SAMPLE), program), program)
    return look_by_spark(reader.read([file]), program)


def _nothing_before(since: int) -> RawEvents:
    return RawEvents()


def prepare_on_spark(lane: SparkLane, plan: Plan, files: Sequence[File], forced: str) -> Prepared:
    """Choose the lanes that a plan's queries take for events like those of these files, and compile its program."""
    reader = lane.reader
    lanes = choose_lanes(reader.spark, reader.catalog, plan, files, forced)
    feeds_trees = bool(lanes.reasons) or not lanes.reads_files
    chosen_lane = replace(
        lane,
        reader=replace(reader, schema=lanes.schema),
        reads_files=lanes.reads_files,
        feeds_trees=feeds_trees,
        has_unshared=bool(lanes.program.unshared),
    )
    queries = query_rows(lanes.program, lanes.reasons, plan.reasons)
    if not feeds_trees:
        return Prepared(lanes.program, chosen_lane, lanes.name, queries)
    by_spark = of_lane(lanes.program, "frame") if lanes.reads_files else lanes.program
    largest = max(files, key=lambda file: file.size)
    fold = choose_fold(partial(_look, chosen_lane.reader, largest), by_spark)
    aggregated = AGGREGATED_IN_ONE if fold.in_one else AGGREGATED
    note = f"{FOLDED}, since {fold.reason}" if fold.reason else aggregated
    return Prepared(lanes.program, replace(chosen_lane, frame_fold=fold), lanes.name, queries, (note,))
