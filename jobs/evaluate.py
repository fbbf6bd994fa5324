"""Evaluates what has arrived on a stream: Structured Streaming gives the batches, the engine evaluates them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from jobs.cpu_meter import CpuMeter
from jobs.engine.batch import close, run_batch
from jobs.engine.manifest import Manifest, newest
from jobs.engine.program import Program
from jobs.engine.source import splits_of
from jobs.engine.spark_executor import from_files, on_spark
from jobs.engine.storage import Storage
from jobs.engine.warehouse import CHECKPOINT, only_run, stream_storage, sweep
from jobs.lanes import choose, from_frame, read_frame
from jobs.report import RunReport
from optimizer.catalog.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LISTING = "path string, modificationTime timestamp, length bigint, content binary"
Progress = Callable[[Manifest, float], None]


@dataclass(frozen=True)
class Options:
    """How a run takes its batches."""

    lane: str = "auto"
    files_per_batch: int = 0  # 0: all that has arrived is one batch
    interval: str = ""  # a processing-time trigger, for a run that never ends; "" evaluates what is there and stops
    buckets: int = 0  # of a new warehouse; 0: as many as Spark has cores


@dataclass
class Evaluation:
    """A run in progress."""

    spark: SparkSession
    catalog: Catalog
    plan: Plan
    storage: Storage
    options: Options
    progress: Progress
    manifest: Manifest
    program: Program | None = None
    lane: str = ""
    report: RunReport = field(default_factory=RunReport)
    failure: Exception | None = None

    def take(self, listing: DataFrame, batch: int) -> None:
        """Evaluate one batch of files; one that was committed before a crash is skipped."""
        if batch <= self.manifest.batch:
            return
        try:
            self._evaluate(batch, [(_plain(row.path), row.length) for row in listing.collect()])
        except Exception as error:
            self.failure = error
            raise

    def _evaluate(self, batch: int, files: list[tuple[str, int]]) -> None:
        if not files:
            return
        started = time.monotonic()
        if self.program is None:
            self.lane, self.program = choose(self.spark, self.catalog, self.plan, files, self.options.lane)
        context = self.spark.sparkContext
        if self.lane == "file":
            feeding = from_files(context, splits_of(files, context.defaultParallelism))
        else:
            stream = self.catalog.streams[self.plan.stream]
            feeding = from_frame(read_frame(self.spark, stream, [path for path, _ in files]))
        self._advance(run_batch(self.storage, self.manifest, self.program, batch, on_spark(context, feeding)), started)

    def finish(self) -> None:
        """Emit the windows that the last batch's events let end."""
        if self.program is not None:
            started = time.monotonic()
            execute = on_spark(self.spark.sparkContext, None)
            self._advance(close(self.storage, self.manifest, self.program, execute), started)

    def _advance(self, after: Manifest, started: float) -> None:
        if after.sequence == self.manifest.sequence:
            return
        self.manifest = after
        self.report.add(after.counts, time.monotonic() - started)
        self.progress(after, time.monotonic() - started)


def evaluate(
    spark: SparkSession,
    catalog: Catalog,
    plan: Plan,
    warehouse: str,
    options: Options = Options(),  # noqa: B008 (frozen)
    progress: Progress = lambda manifest, seconds: None,
) -> RunReport:
    """Evaluate a stream's plan on what has arrived, and say what was done."""
    check_plan(catalog, plan)
    storage = stream_storage(warehouse, plan.stream)
    with only_run(storage), CpuMeter() as meter:
        manifest = newest(storage)
        if not manifest.buckets:
            manifest = replace(manifest, buckets=options.buckets or spark.sparkContext.defaultParallelism)
        sweep(storage, manifest)
        run = Evaluation(spark, catalog, plan, storage, options, progress, manifest)
        _stream(run)
        sweep(storage, run.manifest)
    run.report.finish(plan, run.lane, meter)
    return run.report


def check_plan(catalog: Catalog, plan: Plan) -> None:
    """Refuse a plan that was made for other queries."""
    if plan.catalog_fingerprint != catalog.fingerprint(plan.stream):
        raise HeddleError(
            f"the plan of stream {plan.stream} was made for another catalog; make a new one with `heddle plan --out`"
        )


def _stream(run: Evaluation) -> None:
    stream = run.catalog.streams[run.plan.stream]
    # only the two columns are asked for, so that no file is opened: the listing costs the same at any size
    listing = run.spark.readStream.format("binaryFile").schema(LISTING)
    if run.options.files_per_batch:
        listing = listing.option("maxFilesPerTrigger", run.options.files_per_batch)
    trigger: dict[str, Any] = (
        {"processingTime": run.options.interval} if run.options.interval else {"availableNow": True}
    )
    query = (
        listing.load(stream.path)
        .select("path", "length")
        .writeStream.foreachBatch(run.take)
        .option("checkpointLocation", run.storage.path(CHECKPOINT))
        .trigger(**trigger)
        .start()
    )
    try:
        query.awaitTermination()
    except Exception as error:
        raise run.failure or error from None
    run.finish()


def _plain(path: str) -> str:
    return path.removeprefix("file://").removeprefix("file:")
