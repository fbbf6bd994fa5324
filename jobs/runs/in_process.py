"""The same evaluation in one process, without Spark: for small streams, and to see what Spark costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from jobs.engine.events.expressions import NotExact
from jobs.engine.events.file_types import file_types
from jobs.engine.events.parquet import Split, split_of
from jobs.engine.feed.task import feed_splits
from jobs.engine.finals.task import run_bucket
from jobs.engine.program.compile import compile_program
from jobs.engine.program.program import Program
from jobs.engine.sources import list_input_files
from jobs.engine.sources.contract import File
from jobs.engine.warehouse.consumed_files import PastBatch
from jobs.engine.work import Executor, Outcome, Work
from jobs.host.stops import step, stop_on_signal
from jobs.runs.log_batches import list_file_batches, list_log_batches
from jobs.runs.report import RunReport
from jobs.runs.request import USUAL, Options
from jobs.runs.run import Prepared, Progress, open_run, silent
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan


@dataclass(frozen=True)
class OneProcess:
    """The file lane, its files read one after another."""

    catalog: Catalog
    plan: Plan

    @property
    def queries(self) -> dict[str, dict[str, str]]:
        """The lane of every query, for the report."""
        return {str(id): {"lane": "file", "reason": ""} for tree in self.plan.trees for id in tree.queries}

    def prepare(self, files: Sequence[File]) -> Prepared:
        """Compile the plan for events like those of these files."""
        program = compile_program(self.catalog, self.plan, self.types(files[0].path))
        return Prepared(program, self, "file", self.queries)

    def executors(self) -> OneProcess:
        """Return who evaluates a program before files have come."""
        return self

    def types(self, path: str) -> dict[str, pa.DataType]:
        """Return the types of all expressions and columns, by a file or by the table's own schema; refuse, in one line,
        what only Spark can evaluate."""
        try:
            return file_types(self.catalog, self.plan, path)
        except NotExact as reason:
            raise HeddleError(f"{reason}: only Spark evaluates that; leave out --local") from None

    def execute(self, files: Sequence[File]) -> Executor:
        """Return an executor for these files."""
        return in_process(_splits(files))

    def execute_alone(self, files: Sequence[File]) -> Executor:
        """Return an executor for these files alone; no batch of the past is read beside them."""
        return self.execute(files)

    def replay(self, batches: Sequence[PastBatch]) -> Executor:
        """Return an executor that takes in batches of the past."""
        return replay_in_process([(past, _splits(past.files)) for past in batches])


def evaluate_local(
    catalog: Catalog, plan: Plan, warehouse: str, options: Options = USUAL, progress: Progress = silent
) -> RunReport:
    """Evaluate a stream's plan on what has arrived, and say what was done."""
    if options.interval:
        raise HeddleError("--interval needs Spark; leave it out, or leave out --local")
    if catalog.streams[plan.stream].sql:
        raise HeddleError(f"stream {plan.stream} is made by SQL, which only Spark evaluates; leave out --local")
    if catalog.streams[plan.stream].in_spark:
        raise HeddleError(f"stream {plan.stream} is a table of Spark, which only Spark reads; leave out --local")
    plan = replace(plan, unshared=())
    lane = OneProcess(catalog, plan)
    source = catalog.streams[plan.stream]
    arrived = [] if source.has_log else list_input_files(source)  # a log tells what is new, however long it is
    options = options.of_stream(source)
    for path in [source.path] if source.has_log else [file.path for file in arrived[:1]]:
        lane.types(path)  # a stream that is refused is refused before anything is written
    with open_run(catalog, plan, warehouse, "local", options.buckets or 1, progress) as run, stop_on_signal() as stop:
        run.lane, run.report.queries = "file", lane.queries  # also where nothing has come
        run.note_rewritten(arrived)
        batches = (
            list_log_batches(run, source, options.files_per_batch)
            if source.has_log
            else list_file_batches(run, arrived, options.files_per_batch)
        )
        for batch, files, offset in batches:
            if stop.is_set():
                break
            step("listed")
            run.evaluate(batch, files, lane, options.at_once, offset)
        else:
            run.finish(lane)
    return run.report


def _splits(files: Sequence[File]) -> list[Split]:
    return [split_of(file) for file in files]


def in_process(splits: Sequence[Split]) -> Executor:
    """Return an executor that feeds these splits; without any, it works on the retained slices alone."""
    return partial(_feed_and_finish, splits)


def replay_in_process(batches: Sequence[tuple[PastBatch, Sequence[Split]]]) -> Executor:
    """Return an executor that feeds the splits of past batches again, each under the watermark of its time."""
    return partial(_replay_and_finish, batches)


def _feed_and_finish(splits: Sequence[Split], program: Program, work: Work) -> Outcome:
    return _run_tasks(program, work, [(work, splits)] if splits else [])


def _replay_and_finish(batches: Sequence[tuple[PastBatch, Sequence[Split]]], program: Program, work: Work) -> Outcome:
    return _run_tasks(program, work, [(work.at_watermark_of(past), splits) for past, splits in batches])


def _run_tasks(program: Program, work: Work, feeds: Sequence[tuple[Work, Sequence[Split]]]) -> Outcome:
    """Run the feed tasks one after another, then one task per bucket."""
    outcome = Outcome()
    contents: dict[int, list[bytes]] = {}
    for feed_work, splits in feeds:
        report, parcels = feed_splits(program, feed_work, splits)
        outcome.feeds.append(report)
        for parcel in parcels:
            contents.setdefault(parcel.bucket, []).append(parcel.content)
    finals_work = work.with_latest(outcome.latest)
    for bucket in range(work.buckets):
        outcome.buckets.append(run_bucket(program, finals_work, bucket, contents.get(bucket, [])))
    return outcome
