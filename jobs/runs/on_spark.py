"""The evaluation's loop: Structured Streaming lists the files and numbers the batches, the engine evaluates them.

The catalog may change while a run goes on: queries join and leave between two batches, without a restart. The change
is woven into the plan in force by Incremental WeaveShare, and the slice manager of on-the-fly sharing (Krishnamurthy
et al., SIGMOD 2006, Algorithm 1) lays out where the next slices end. The queries that stay keep their slices; what a
new query needs of the past is folded from the events that are still there.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs.engine.sources import table_columns
from jobs.engine.sources.contract import File
from jobs.engine.warehouse.consumed_files import (
    add_record,
    earlier_files,
    files_in_records,
    load_records,
    offered_files,
)
from jobs.engine.warehouse.lifecycle import CHECKPOINT, Engine
from jobs.host.stops import step, stop_on_signal
from jobs.measure.machine_prices import load_prices
from jobs.runs.due_batches import DueBatches, mark_batches
from jobs.runs.lanes import FrameReader, SparkLane, prepare_on_spark
from jobs.runs.log_batches import LogBatch, list_file_batches, list_log_batches, require_appends
from jobs.runs.report import RunReport
from jobs.runs.request import USUAL, Options
from jobs.runs.run import Prepared, Progress, Run, open_run, silent
from jobs.spark.session import as_user_error, in_zone
from jobs.spark.stream_frames import arrived_files, driver_of, literal_path
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Stream
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.sql.durations import parse_duration, print_length
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan
from optimizer.plan.explain import counted
from optimizer.planning.reweave import reweave
from optimizer.windows.slice_manager import SliceManager

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


ANY_AGE = "36500d"  # Spark would leave out files that are a week older than the newest, without a word
PATTERN = "pathGlobFilter"  # of a stream's options, those that Spark takes in a stream, too
LISTING = "path string, modificationTime timestamp, length bigint, content binary"
CHECKPOINT_FOLDERS = ("offsets", "commits", "sources/0")
POLL_SECONDS: Any = 0.2  # awaitTermination takes fractions, its annotation does not
Stamp = tuple[tuple[str, int, int], ...]  # name, time of the last change and size of every file


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
    arrived: Sequence[File] = ()  # as the folder was when the run began
    failure: Exception | None = None
    due: DueBatches | None = None  # of a run that ends, whose files are listed once; else Spark lists them
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
        earlier = earlier_files(storage, manifest, records)
        if died is not None:
            files = self.run.present(died)
        elif self.due is not None:
            files = self.run.present(self.due.take_next())
        else:  # by Spark's own record of the batch: to collect the listing would be a query and a job more
            consumed = files_in_records(records).keys() | {file.path for file in earlier or ()}
            files = [file for file in offered_files(storage, batch, self.driver) if file.path not in consumed]
        add_record(storage, records, batch, files, earlier)
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
            if self.options.interval:
                self._await(self._start(self.driver.path))
                return
            run = self.run
            with mark_batches(run.storage, run.manifest, self.arrived, self.options.files_per_batch) as self.due:
                if self.due.folder:
                    self._await(self._start(run.storage.uri(self.due.folder)))
                else:
                    self._close()
        except Exception as error:
            raise as_user_error(self.spark, self.failure or error) from None

    def _await(self, query: StreamingQuery) -> None:
        while not query.awaitTermination(POLL_SECONDS):
            if self.stop.is_set():
                self._end(query)
                return
            if self.options.interval and _idle(query):
                self._close()
        self._close()

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

    def _start(self, folder: str) -> StreamingQuery:
        """Start a query over a folder: of events where a run goes on, else of marks for the batches that are due."""
        for name in CHECKPOINT_FOLDERS:  # for each that it makes itself, Hadoop starts a `chmod`
            self.run.storage.make_folder(f"{CHECKPOINT}/{name}")
        # nothing of it is ever read: Spark numbers the batches and keeps the record. What folders say is not asked for,
        # since those of the marks and of the events, which may follow each other, do not fit together
        listing = self.spark.readStream.format("binaryFile").schema(LISTING).option("maxFileAge", ANY_AGE)
        listing = listing.option("recursiveFileLookup", "true")
        pattern, interval = self.driver.options.get(PATTERN), self.options.interval
        if interval and pattern:
            listing = listing.option(PATTERN, pattern)
        if files := 1 if self.due else self.options.files_per_batch:
            listing = listing.option("maxFilesPerTrigger", files)
        pace = {"processingTime": f"{parse_duration(interval)} microseconds"} if interval else {}
        trigger: dict[str, Any] = pace or {"availableNow": True}
        return (
            listing.load(literal_path(folder))
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
    table_columns(driver)  # a table that cannot be read is refused before anything is written
    arrived = [] if driver.has_log else arrived_files(spark, driver)
    options = options.of_stream(driver)
    # whose record of files counts: ours, or Spark's
    engine: Engine = "local" if driver.has_log or driver.in_spark else "spark"
    with open_run(catalog, plan, warehouse, engine, buckets, progress) as run, stop_on_signal() as stop:
        run.report.master = str(spark.sparkContext.master)
        run.note_rewritten(arrived)
        follower = CatalogFollower(Path(followed), run.report.note) if followed else None
        Streaming(spark, run, options, stop, arrived=arrived, follower=follower).go()
    return run.report


@dataclass(frozen=True)
class Change:
    """The catalog as it is now, the plan that answers it, and which queries joined and left."""

    catalog: Catalog
    plan: Plan
    joined: tuple[str, ...]
    left: tuple[str, ...]


@dataclass
class CatalogFollower:
    """Looks at a catalog's folder before every batch; a mistake there is reported once, and the old queries go on."""

    folder: Path
    tell: Callable[[str], None]
    _stamp: Stamp = field(init=False)

    def __post_init__(self) -> None:
        self._stamp = _stamp(self.folder)

    def look(self, catalog: Catalog, plan: Plan, watermark: int) -> Change | None:
        """Return what has changed since the last look; None where the queries of the stream are the same."""
        now = _stamp(self.folder)
        if now == self._stamp:
            return None
        self._stamp = now
        try:
            return self._weave(catalog, load_catalog(self.folder), plan, watermark)
        except HeddleError as error:
            self.tell(f"the catalog has changed and cannot be followed, so its queries go on as they were: {error}")
            return None

    def _weave(self, before: Catalog, catalog: Catalog, plan: Plan, watermark: int) -> Change | None:
        if catalog.fingerprint(plan.stream) == plan.catalog_fingerprint:
            return None
        if catalog.streams[plan.stream] != before.streams[plan.stream]:
            raise HeddleError(f"stream {plan.stream} is defined anew; start the evaluation again")
        if not len(catalog.of_stream(plan.stream)):
            raise HeddleError(f"stream {plan.stream} has no query left; end the evaluation, or add one")
        rewoven = reweave(plan, catalog, prices=load_prices())
        old, new = _definitions(before, plan.stream), _definitions(catalog, plan.stream)
        joined = tuple(sorted(id for id in new if new[id] != old.get(id)))
        left = tuple(sorted(id for id in old if old[id] != new.get(id)))
        trees = counted(len(rewoven.plan.trees), "tree", "trees")
        self.tell(
            f"{_name_some(joined)} joined, {_name_some(left)} left; {trees}, "
            f"the next slice ends {_next_slice(rewoven.plan, watermark)}"
        )
        return Change(catalog, rewoven.plan, joined, left)


def next_edges(plan: Plan, watermark: int, count: int = 1) -> list[int]:
    """Return where the next slices of the plan's queries end after the watermark, by the slice manager.

    >>> from optimizer import Window, optimize
    >>> next_edges(optimize([Window(16, 4), Window(10, 5)], 1.2), watermark=20, count=5)
    [24, 25, 28, 30, 32]
    """
    manager = SliceManager(now=watermark)
    for tree in plan.trees:
        for window in tree.windows if tree.queries and not tree.windows.rows else ():
            manager.join(window)
    edges = (manager.next_edge() for _ in range(count))
    return [edge for edge in edges if edge is not None]


def _next_slice(plan: Plan, watermark: int) -> str:
    edges = next_edges(plan, watermark)
    return f"{print_length(edges[0] - watermark, False)} after the watermark" if edges else "with the next row"


def _definitions(catalog: Catalog, stream: str) -> dict[str, object]:
    return {query.id: query for query in catalog.of_stream(stream)}


def _name_some(ids: tuple[str, ...]) -> str:
    return ", ".join(ids[:5]) + (f" and {len(ids) - 5} more" if len(ids) > 5 else "") if ids else "none"


def _stamp(folder: Path) -> Stamp:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    stats = [(path.name, path.stat()) for path in files]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)
