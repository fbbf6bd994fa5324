"""A past interval computed anew: into a warehouse of its own, or in place of quarantined batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.batch.carry import retained_from_start
from jobs.engine.batch.run_batch import Corrections, PastEvents, fill_warehouse, joined_queries, recompute_batch
from jobs.engine.program.program import Program
from jobs.engine.sources.contract import File
from jobs.engine.warehouse.consumed_files import RawEvents, add_record, raw_events
from jobs.engine.warehouse.ledger import batches_of, newest_ledger, reopen
from jobs.engine.warehouse.lifecycle import evaluated_manifest, keep_plan, list_data, only_run, stream_storage, sweep
from jobs.engine.warehouse.manifest import DataFile, Manifest, commit, emitted_span, has_all_marks, newest
from jobs.engine.warehouse.result_files import BATCH, CORRECTED_AFTER, read_late_files
from jobs.engine.warehouse.state_files import save_retained
from jobs.engine.work import Work
from jobs.host.say import Say, silent
from jobs.host.storage import Storage
from jobs.runs.lanes import FrameReader, SparkLane, prepare_on_spark
from jobs.runs.report import EPOCH, format_time
from jobs.runs.request import Request
from jobs.runs.run import Prepared, check_plan
from jobs.spark.session import as_user_error, in_zone
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan
from optimizer.windows.window import BEGINNING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jobs.spark.session import Start

Span = tuple[int, int]  # windows that end after the first time, up to the second; in microseconds


@dataclass(frozen=True)
class Backfill:
    """Which past of which stream to compute anew, and where its results go."""

    request: Request
    low: str = ""
    high: str = ""
    into: str = ""
    repair: bool = False

    def run(self, start: Start, say: Say) -> dict[str, Any]:
        """Compute the past and return what was done. A mistake is found before Spark is started."""
        named = bool(self.low), bool(self.high), bool(self.into)
        if any(named) if self.repair else not self.high:
            raise HeddleError("give --to, and --from unless all before it is meant; or --repair alone")
        low = parse_time(self.low, "--from") if self.low else BEGINNING
        span = None if self.repair else (low, parse_time(self.high, "--to"))
        catalog, plan = self.request.load_catalog_and_plan(say, start)
        past = past_of(start, catalog, plan, self.request.warehouse)
        return backfill(past, self.into or default_target(self.request.warehouse), span) if span else repair(past)


def default_target(warehouse: str) -> str:
    """Return the warehouse that a backfill goes into when none is named: beside the live one.

    >>> default_target("run/warehouse/")
    'run/warehouse-backfill'
    """
    return f"{warehouse.rstrip('/')}-backfill"


def parse_time(text: str, option: str) -> int:
    """Parse a time as a person writes it, in UTC unless it says otherwise."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise HeddleError(f"{option} {text!r} is no time; write it like 2026-01-31T12:00:00") from None
    aware = time if time.tzinfo else time.replace(tzinfo=UTC)
    return (aware - EPOCH) // timedelta(microseconds=1)


@dataclass(frozen=True)
class Past:
    """A stream's past: what its live warehouse has taken and knows, which is only read."""

    spark: SparkSession
    catalog: Catalog
    plan: Plan
    storage: Storage
    manifest: Manifest

    def prepare(self, files: Sequence[File]) -> Prepared:
        """Make the plan ready for the past's events, which executors are handed as their own files."""
        reader = FrameReader(self.spark, self.catalog, self.plan.stream)
        return prepare_on_spark(SparkLane(reader, _no_batches_before, silent), self.plan, files, "auto")

    @property
    def in_rows(self) -> bool:
        """Whether some of its windows are measured in rows, which are counted from the first event on."""
        return any(tree.windows.rows for tree in self.plan.trees)

    def raw(self, since: int, batch: int) -> RawEvents:
        """Return all events since a time, of the batches up to one; refuse when some are gone."""
        events = raw_events(self.storage, self.manifest, since)
        if events.since > since:
            why = (
                "rows are counted from the first event on: leave out windows in rows"
                if since == BEGINNING and self.in_rows
                else "choose a later --from"
            )
            raise HeddleError(
                f"{self.storage.root}: files that hold events before {format_time(events.since)} are gone; "
                f"{why}, or restore the files"
            )
        return replace(events, batches=[past for past in events.batches if past.batch <= batch])

    def since(self, low: int) -> int:
        """Return the time of the first event that a window in time may hold which ends after `low`."""
        longest = int(max(self.catalog.of_stream(self.plan.stream).windows.range))
        return max(BEGINNING, low - longest + 1)


def _no_batches_before(since: int) -> RawEvents:
    """Return no files: the batch that is computed anew has all files of the past."""
    return RawEvents()


def past_of(start: Start, catalog: Catalog, plan: Plan, warehouse: str) -> Past:
    """Return the past of a stream that has been evaluated."""
    check_plan(catalog, plan)
    manifest = evaluated_manifest(warehouse, plan.stream)
    spark = in_zone(start(), catalog.streams[plan.stream].zone)
    return Past(spark, catalog, plan, stream_storage(warehouse, plan.stream), manifest)


def backfill(past: Past, into: str, span: Span) -> dict[str, Any]:
    """Compute the windows of a span from the raw events, into a warehouse of their own."""
    if not span[0] < span[1] <= past.manifest.watermark:
        raise HeddleError(
            f"--from is before --to, and --to not after the watermark, {format_time(past.manifest.watermark)}"
        )
    target = stream_storage(into, past.plan.stream)
    with only_run(target):
        if newest(target).sequence >= 0:
            raise HeddleError(f"{target.root}: holds results already; name another folder with --into")
        raw = past.raw(past.since(span[0]), past.manifest.batch)
        every = past.raw(BEGINNING, past.manifest.batch) if past.in_rows else raw
        if not raw.files:
            raise HeddleError(f"{past.storage.root}: has taken no events of that interval")
        try:
            prepared = past.prepare(raw.files)
            keep_plan(target, past.plan)
            add_record(target, [], 0, every.files)
            before = _fresh(target, past.manifest, prepared.program, span)
            never_late = [replayed._replace(emitted=BEGINNING) for replayed in every.batches]
            events = PastEvents(raw.files, never_late)
            after = fill_warehouse(target, before, prepared.program, span[1], events, prepared.executors)
        except Exception as error:
            raise as_user_error(past.spark, error) from None
        sweep(target, after)
    counts = after.counts
    return {"stream": past.plan.stream, "into": into, "events": counts["events"], "results": counts["results"]}


def _fresh(target: Storage, live: Manifest, program: Program, span: Span) -> Manifest:
    """Return an empty warehouse whose queries are asked for the windows that end after the span's beginning."""
    start = retained_from_start(program)
    answered_after = dict.fromkeys(start.answered_after, span[0])
    name = save_retained(target, replace(start, answered_after=answered_after))
    return Manifest(watermark=span[0], buckets=live.buckets, standing=name)


def repair(past: Past) -> dict[str, Any]:
    """Compute the quarantined batches anew, in place. They wait for their audit once more; the state is not touched."""
    with only_run(past.storage):
        past = replace(past, manifest=newest(past.storage))
        listing = list_data(past.storage, past.manifest)
        refused = newest_ledger(past.storage).quarantined
        batches = batches_of(past.manifest, refused)
        if not batches:
            raise HeddleError(f"{past.storage.root}: no batch is quarantined; there is nothing to repair")
        spans = {batch: _span(past.manifest, batch) for batch in batches}
        try:
            recomputed = [file for batch, span in spans.items() for file in _recompute(past, batch, span)]
        except Exception as error:
            raise as_user_error(past.spark, error) from None
        # the ledger first: should this run die in between, the next audit merely looks at more than it has to
        reopen(past.storage, min(low for low, _ in spans.values()))
        unchanged = [file for file in past.manifest.results if file.name not in refused]
        after = replace(past.manifest, sequence=past.manifest.sequence + 1, results=(*unchanged, *recomputed))
        commit(past.storage, after)
        sweep(past.storage, after, listing)
    return {"stream": past.plan.stream, "repaired": batches, "results": sum(file.rows for file in recomputed)}


def _span(manifest: Manifest, batch: int) -> Span:
    span = emitted_span(manifest.marks, batch)
    if span is None:
        raise HeddleError(f"batch {batch} is too long ago to know which windows it emitted; release or discard it")
    return span


def _recompute(past: Past, batch: int, span: Span) -> list[DataFile]:
    """Return the files of a batch that hold what it ought to have emitted: from the events that had come by then."""
    raw = past.raw(past.since(span[0]), batch)
    events = PastEvents(raw.files)
    if past.in_rows:
        if not has_all_marks(past.manifest.marks, past.manifest.batch):
            raise HeddleError(
                f"batch {batch} has windows in rows, which are counted from the first event on, and what is known of "
                "the first batches is not enough after so many; release or discard it"
            )
        every = past.raw(BEGINNING, batch).batches
        own = [file for replayed in every if replayed.batch == batch for file in replayed.files]
        events = PastEvents(raw.files, [replayed for replayed in every if replayed.batch < batch], own)
    prepared = past.prepare(raw.files)
    results = recompute_batch(past.storage, past.manifest, prepared.program, batch, span, events, prepared.executors)
    return results + _recompute_revisions(past, prepared, batch, span[0])


def _recompute_revisions(past: Past, prepared: Prepared, batch: int, emitted: int) -> list[DataFile]:
    """Return the files of a batch that hold the windows which its late events corrected, as the late table tells."""
    late = read_late_files(past.storage, past.manifest.late)
    if CORRECTED_AFTER not in late.column_names:
        return []
    after = pc.max(late[CORRECTED_AFTER].filter(pc.equal(late[BATCH], batch)).cast(pa.int64())).as_py()
    if after is None:
        return []
    batches = past.raw(past.since(after), batch).batches
    own = [file for replayed in batches if replayed.batch == batch for file in replayed.files]
    if not own:
        raise HeddleError(f"batch {batch} is too long ago to know which files were late; release or discard it")
    earlier = RawEvents([replayed for replayed in batches if replayed.batch < batch])
    joined = joined_queries(past.storage, past.manifest)
    work = Work(past.storage.root, batch, emitted, emitted, past.manifest.buckets, joined=joined, corrected_after=after)
    corrections = Corrections(own, lambda since: earlier, prepared.executors)
    return corrections.revise(past.storage, prepared.program, work)
