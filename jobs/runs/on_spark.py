"""The evaluation's loop: Structured Streaming lists the files and numbers the batches, the engine evaluates them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs.engine.events.parquet import name_long_groups, splits_of
from jobs.engine.program.lanes import of_lane
from jobs.engine.program.program import Program
from jobs.engine.sources import list_input_files
from jobs.engine.sources.files import File
from jobs.engine.warehouse.consumed_files import PastBatch, add_record, earlier_files, load_records, offered_files
from jobs.engine.warehouse.lifecycle import CHECKPOINT, Engine
from jobs.engine.work import Executor
from jobs.host.kill_points import step
from jobs.host.signals import stop_on_signal
from jobs.runs.follow_catalog import CatalogFollower, Change
from jobs.runs.lanes import query_rows
from jobs.runs.log_batches import list_log_batches
from jobs.runs.report import RunReport
from jobs.runs.request import USUAL, Options
from jobs.runs.run import Progress, Run, open_run, silent
from jobs.spark.choose_lane import choose_lanes
from jobs.spark.errors import as_user_error
from jobs.spark.executor import SparkExecutor
from jobs.spark.feed_tasks import BothLanes, FeedTasks, FileTasks, PastTasks
from jobs.spark.frame_lane import AggregateTasks, EventTasks, fold_reason
from jobs.spark.session import in_zone
from jobs.spark.stream_frames import driver_of, stream_frame
from jobs.spark.table_frames import literal_path
from jobs.spark.unshared import UnsharedLane
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Stream
from optimizer.catalog.sql.durations import parse_duration
from optimizer.plan.definition import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.types import StructType


ANY_AGE = "36500d"  # Spark would leave out files that are a week older than the newest, without a word
LISTED_BY_SPARK = frozenset({"recursiveFileLookup", "pathGlobFilter"})  # it refuses the others in a stream
LISTING = "path string, modificationTime timestamp, length bigint, content binary"
AGGREGATED = "Spark aggregates the events before they are folded"
FOLDED = "every event is folded on its own"
CHECKPOINT_FOLDERS = ("offsets", "commits", "sources/0")
POLL_SECONDS: Any = 0.2  # awaitTermination takes fractions, its annotation does not


class Stopped(Exception):  # noqa: N818 (asked for, not an error)
    """A batch that Spark offers after the user asked to stop: it stays for the next run."""


@dataclass
class Streaming:
    """A run on Spark. Batches come on a thread of Spark's; `turn` keeps the closing of windows apart from them."""

    spark: SparkSession
    run: Run
    options: Options
    stop: threading.Event
    turn: threading.Lock = field(default_factory=threading.Lock)
    failure: Exception | None = None
    reads_files: bool = False  # whether tasks read files themselves
    schema: StructType | None = None  # of the first files, where Spark reads them
    feeds_trees: bool = False  # whether Spark evaluates what some trees fold
    has_unshared: bool = False
    fold_each: bool = False  # whether the frame lane folds every event on its own
    follower: CatalogFollower | None = None  # of a run that goes on while its catalog changes

    @property
    def driver(self) -> Stream:
        """The stream whose files bring the events."""
        return driver_of(self.run.catalog, self.run.plan.stream)

    def take(self, listing: DataFrame, batch: int) -> None:
        """Evaluate one batch of files; one that was committed before a crash is skipped."""
        with self.turn:
            if self.stop.is_set():
                raise Stopped
            if batch <= self.run.manifest.batch:
                return
            try:
                self._evaluate(batch, self._files(batch))
            except Exception as error:
                self.failure = error
                raise

    def _evaluate(self, batch: int, files: list[File], offset: str = "") -> None:
        step("listed")
        if change := self._look():
            self.run.follow(change.catalog, change.plan)
        self.run.evaluate(batch, files, self, self.options.at_once, offset)

    def _look(self) -> Change | None:
        run = self.run
        return self.follower.look(run.catalog, run.plan, run.manifest.watermark) if self.follower else None

    def _files(self, batch: int) -> list[File]:
        """Return the files of a batch, and write them down; of one that died, those that it had."""
        storage, manifest = self.run.storage, self.run.manifest
        records = load_records(storage)
        died = next((record.files for record in records if record.batch == batch), None)
        # by Spark's own record of the batch: to collect the listing would be a query and a job more
        files = offered_files(storage, batch, self.driver) if died is None else self.run.present(died)
        add_record(storage, records, batch, files, earlier_files(storage, manifest, records))
        return files

    def program(self, files: Sequence[File]) -> Program:
        """Return the program for events like those of these files; choose the lanes that its queries take."""
        run = self.run
        lanes = choose_lanes(self.spark, run.catalog, run.plan, files, self.options.lane)
        program, run.lane, self.schema, self.reads_files = lanes.program, lanes.name, lanes.schema, lanes.reads_files
        self.feeds_trees, self.has_unshared = bool(lanes.reasons) or not lanes.reads_files, bool(program.unshared)
        run.report.queries = query_rows(program, lanes.reasons, run.plan.reasons)
        if self.feeds_trees:
            by_spark = of_lane(program, "frame") if lanes.reads_files else program
            reason = fold_reason(self._read([max(files, key=lambda file: file.size)]), by_spark)
            self.fold_each = bool(reason)
            run.report.notes.append(f"{FOLDED}, since {reason}" if reason else AGGREGATED)
        return program

    def execute(self, files: Sequence[File]) -> Executor:
        """Return an executor for these files, on Spark; queries that are not woven run beside it."""
        unshared = UnsharedLane(self.run.catalog, files, self.run.raw, self._read, self.run.report.notes.append)
        if not files:
            return SparkExecutor(self.spark.sparkContext, None, unshared=unshared)
        return SparkExecutor(self.spark.sparkContext, self._feed_tasks(files), lambda: self._read(files), unshared)

    def replay(self, batches: Sequence[PastBatch]) -> Executor:
        """Return an executor that takes in batches of the past."""
        context = self.spark.sparkContext
        tasks = [(past, self._feed_tasks(past.files)) for past in batches]
        return SparkExecutor(context, PastTasks(context, tasks) if tasks else None)

    def _feed_tasks(self, files: Sequence[File]) -> FeedTasks:
        context = self.spark.sparkContext
        if not self.reads_files:
            return self._frame_tasks(files)
        heaps = splits_of(files, context.defaultParallelism)
        notes = self.run.report.notes
        notes += [line for line in name_long_groups(heaps) if line not in notes]
        from_files = FileTasks(context, heaps)
        if not self.feeds_trees and not self.has_unshared:
            return from_files
        return BothLanes(from_files, self._frame_tasks(files) if self.feeds_trees else None)

    def _frame_tasks(self, files: Sequence[File]) -> FeedTasks:
        frame = self._read(files)
        return EventTasks(frame) if self.fold_each else AggregateTasks(frame)

    def _read(self, files: Sequence[File]) -> DataFrame:
        return stream_frame(self.spark, self.run.catalog, self.run.plan.stream, files, self.schema)

    def go(self) -> None:
        """Run until nothing is left, or until the user stops it."""
        # py4j prints what a batch raises as a traceback; it reaches the user as a line
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        try:
            if self.driver.has_log:
                self._follow_log()
                return
            query = self._start()
            while not query.awaitTermination(POLL_SECONDS):
                if self.stop.is_set():
                    self._end(query)
                    return
                if self.options.interval and _idle(query):
                    self._close()
            self._close()
        except Exception as error:
            raise as_user_error(self.spark, self.failure or error) from None

    def _follow_log(self) -> None:
        """Evaluate what the table's own log has added; with an interval, look again and again."""
        while not self.stop.is_set():
            for batch, files, offset in list_log_batches(self.run, self.driver, self.options.files_per_batch):
                if self.stop.is_set():
                    return
                self._evaluate(batch, list(files), offset)
            self._close()
            if not self.options.interval or self.stop.wait(parse_duration(self.options.interval) / 1e6):
                return

    def _close(self) -> None:
        with self.turn:
            self.run.finish(self)

    def _end(self, query: StreamingQuery) -> None:
        with self.turn:  # the batch in hand is over; the next one is refused
            pass
        query.stop()

    def _start(self) -> StreamingQuery:
        for folder in CHECKPOINT_FOLDERS:  # for each that it makes itself, Hadoop starts a `chmod`
            self.run.storage.make_folder(f"{CHECKPOINT}/{folder}")
        # nothing of it is ever read: Spark lists the files, numbers the batches and keeps the record
        listing = self.spark.readStream.format("binaryFile").schema(LISTING).option("maxFileAge", ANY_AGE)
        for name in LISTED_BY_SPARK & self.driver.options.keys():
            listing = listing.option(name, self.driver.options[name])
        if self.options.files_per_batch:
            listing = listing.option("maxFilesPerTrigger", self.options.files_per_batch)
        interval = self.options.interval
        pace = {"processingTime": f"{parse_duration(interval)} microseconds"} if interval else {}
        trigger: dict[str, Any] = pace or {"availableNow": True}
        return (
            listing.load(literal_path(self.driver.path))
            .select("path")
            .writeStream.foreachBatch(self.take)
            .option("checkpointLocation", self.run.storage.uri(CHECKPOINT))
            .trigger(**trigger)
            .start()
        )


def _idle(query: StreamingQuery) -> bool:
    status = query.status
    return not status["isDataAvailable"] and not status["isTriggerActive"]


def evaluate(
    spark: SparkSession,
    catalog: Catalog,
    plan: Plan,
    warehouse: str,
    options: Options = USUAL,
    progress: Progress = silent,
    followed: str = "",
) -> RunReport:
    """Evaluate a stream's plan on what has arrived, and say what was done.

    A run that goes on follows the catalog's folder, where one is named: queries join and leave between batches.
    """
    buckets = options.buckets or spark.sparkContext.defaultParallelism
    spark = in_zone(spark, catalog.streams[plan.stream].zone)
    driver = driver_of(catalog, plan.stream)
    arrived = list_input_files(driver)
    options = options.of_stream(driver)
    engine: Engine = "local" if driver.has_log else "spark"  # whose record of files counts: ours, or Spark's
    with open_run(catalog, plan, warehouse, engine, buckets, progress) as run, stop_on_signal() as stop:
        run.report.master = str(spark.sparkContext.master)
        run.note_rewritten(arrived)
        follower = CatalogFollower(Path(followed), run.report.notes.append) if followed else None
        Streaming(spark, run, options, stop, follower=follower).go()
    return run.report
