"""How a plan's batches run on Spark: which lanes its queries take, and the executors that evaluate its files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from jobs.engine.events.parquet import name_long_groups, splits_of
from jobs.engine.program.queries import of_lane
from jobs.engine.sources.files import File
from jobs.engine.warehouse.consumed_files import PastBatch, RawEvents
from jobs.engine.work import Executor
from jobs.host.say import Say
from jobs.runs.lanes import query_rows
from jobs.runs.run import Prepared
from jobs.spark.choose_lane import choose_lanes
from jobs.spark.executor import SparkExecutor
from jobs.spark.feed_tasks import BothLanes, FeedTasks, FileTasks, PastTasks
from jobs.spark.frame_lane import FrameFold, choose_fold
from jobs.spark.stream_frames import stream_frame
from jobs.spark.unshared import UnsharedLane
from optimizer.catalog.model.catalog import Catalog
from optimizer.plan.definition import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

AGGREGATED = "Spark aggregates the events before they are folded"
AGGREGATED_IN_ONE = f"{AGGREGATED}, in one pass for all groupings"
FOLDED = "every event is folded on its own"


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
    fold = choose_fold(chosen_lane.reader.read([max(files, key=lambda file: file.size)]), by_spark)
    aggregated = AGGREGATED_IN_ONE if fold.in_one else AGGREGATED
    note = f"{FOLDED}, since {fold.reason}" if fold.reason else aggregated
    return Prepared(lanes.program, replace(chosen_lane, frame_fold=fold), lanes.name, queries, (note,))
