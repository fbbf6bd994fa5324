"""The evaluation's loop: Structured Streaming lists the files and numbers the batches, the engine evaluates them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs.engine.sources.files import File
from jobs.engine.warehouse.consumed_files import add_record, earlier_files, load_records, offered_files
from jobs.engine.warehouse.lifecycle import CHECKPOINT, Engine
from jobs.host.kill_points import step
from jobs.host.signals import stop_on_signal
from jobs.runs.follow_catalog import CatalogFollower, Change
from jobs.runs.log_batches import LogBatch, list_file_batches, list_log_batches, require_appends
from jobs.runs.report import RunReport
from jobs.runs.request import USUAL, Options
from jobs.runs.run import Prepared, Progress, Run, open_run, silent
from jobs.runs.spark_lane import FrameReader, SparkLane, prepare_on_spark
from jobs.spark.errors import as_user_error
from jobs.spark.session import in_zone
from jobs.spark.stream_frames import driver_of
from jobs.spark.table_frames import arrived_files, literal_path
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Stream
from optimizer.catalog.sql.durations import parse_duration
from optimizer.plan.definition import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


ANY_AGE = "36500d"  # Spark would leave out files that are a week older than the newest, without a word
LISTED_BY_SPARK = frozenset({"recursiveFileLookup", "pathGlobFilter"})  # it refuses the others in a stream
LISTING = "path string, modificationTime timestamp, length bigint, content binary"
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

    def prepare(self, files: Sequence[File]) -> Prepared:
        """Make the plan ready for events like those of these files; choose the lanes that its queries take."""
        return prepare_on_spark(self.executors(), self.run.plan, files, self.options.lane)

    def executors(self) -> SparkLane:
        """Return who evaluates a program before files have come."""
        run = self.run
        return SparkLane(FrameReader(self.spark, run.catalog, run.plan.stream), run.raw, run.report.note)

    def go(self) -> None:
        """Run until nothing is left, or until the user stops it."""
        # py4j prints what a batch raises as a traceback; it reaches the user as a line
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        try:
            if self.driver.has_log or self.driver.in_spark:
                self._follow_records()
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

    def _list_batches(self) -> Iterator[LogBatch]:
        if not self.driver.in_spark:
            return list_log_batches(self.run, self.driver, self.options.files_per_batch)
        arrived = arrived_files(self.spark, self.driver)
        require_appends(self.run, self.driver, arrived)
        return list_file_batches(self.run, arrived, self.options.files_per_batch)

    def _follow_records(self) -> None:
        """Evaluate what the table has added; with an interval, look again and again."""
        while not self.stop.is_set():
            for batch, files, offset in self._list_batches():
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
    arrived = arrived_files(spark, driver)
    options = options.of_stream(driver)
    # whose record of files counts: ours, or Spark's
    engine: Engine = "local" if driver.has_log or driver.in_spark else "spark"
    with open_run(catalog, plan, warehouse, engine, buckets, progress) as run, stop_on_signal() as stop:
        run.report.master = str(spark.sparkContext.master)
        run.note_rewritten(arrived)
        follower = CatalogFollower(Path(followed), run.report.note) if followed else None
        Streaming(spark, run, options, stop, follower=follower).go()
    return run.report
