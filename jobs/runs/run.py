"""A run over a stream's warehouse, on Spark or without: opened, advanced batch by batch, closed, swept, reported."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Protocol

import pyarrow as pa

from jobs.engine.batch.adopt import adopt
from jobs.engine.batch.carry import is_served_by
from jobs.engine.batch.run_batch import Corrections, close, commit_empty_batch, run_batch
from jobs.engine.events.file_types import named_columns
from jobs.engine.program.compile import compile_program, expressions
from jobs.engine.program.program import Program
from jobs.engine.program.queries import label_of
from jobs.engine.program.spark_types import can_widen, parse_type, plain_type
from jobs.engine.sources.contract import File, current_files
from jobs.engine.warehouse.consumed_files import RawEvents, files_in_records, is_rewritten, load_records, raw_events
from jobs.engine.warehouse.lifecycle import (
    NOTHING,
    Engine,
    Listing,
    claim,
    keep_plan,
    list_data,
    only_run,
    stream_storage,
    sweep,
)
from jobs.engine.warehouse.manifest import Manifest, newest
from jobs.engine.warehouse.outbox import enter_published
from jobs.engine.warehouse.state_files import load_retained
from jobs.engine.work import Executors
from jobs.host.machine import CpuMeter
from jobs.host.storage import Storage
from jobs.runs.report import RunReport, adopted_notes
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.sql.expressions import quote
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan
from optimizer.windows.window import BEGINNING

SWEEP_EVERY = 16  # batches
NEWEST = 8  # files that tell the types of the events when no new ones have come
Progress = Callable[[Manifest, float], None]


def silent(manifest: Manifest, seconds: float) -> None:
    """Say nothing of how far the run is."""


@dataclass(frozen=True)
class Prepared:
    """A plan made ready to run: its program, who evaluates it, and what the report says of its lanes."""

    program: Program
    executors: Executors
    lane: str = ""  # "file", "frame" or "file and frame"
    queries: dict[str, dict[str, str]] = field(default_factory=dict)  # by id: its lane, and why if not the file lane
    notes: tuple[str, ...] = ()
    from_files: bool = True  # else from the types that earlier batches had, until files come


class Lane(Protocol):
    """How the events of a run come in."""

    def prepare(self, files: Sequence[File]) -> Prepared:
        """Make the plan ready for events like those of these files."""
        ...

    def executors(self) -> Executors:
        """Return who evaluates a program before files have come."""
        ...


@dataclass
class Run:
    """What is evaluated, where it stands, and what has been done."""

    catalog: Catalog
    plan: Plan
    storage: Storage
    manifest: Manifest
    progress: Progress
    prepared: Prepared | None = None
    lane: str = ""  # for the report
    report: RunReport = field(default_factory=RunReport)
    listing: Listing = NOTHING  # where no lock keeps other runs out: the data files before the newest commits

    def evaluate(self, batch: int, files: Sequence[File], lane: Lane, last: bool = False, offset: str = "") -> None:
        """Evaluate a batch of files, which may be the last of the run; one without any, because they vanished, is over
        at once. The manifest keeps the offset of a source with a log."""
        started = time.monotonic()
        prepared = self._ready(lane, files)
        self.manifest = replace(self.manifest, offset=offset or self.manifest.offset)
        if files and prepared is not None:
            execute = prepared.executors.execute(files)
            corrections = self._corrections(prepared, files)
            program = prepared.program
            self._advance(run_batch(self.storage, self.manifest, program, batch, execute, last, corrections), started)
        else:
            self._advance(commit_empty_batch(self.storage, self.manifest, batch), started)

    def _corrections(self, prepared: Prepared, files: Sequence[File]) -> Corrections | None:
        if not prepared.program.corrections:
            return None
        return Corrections(files, lru_cache(maxsize=1)(self.raw), prepared.executors, self.report.note)

    def finish(self, lane: Lane) -> None:
        """Emit the windows that the last batch's events let end, be it a batch of an earlier run that died."""
        prepared = self._ready(lane, [])
        started = time.monotonic()
        if prepared is not None:
            execute = prepared.executors.execute([])
            self._advance(close(self.storage, self.manifest, prepared.program, execute), started)
            self._end_by_clock(prepared)

    def _end_by_clock(self, prepared: Prepared) -> None:
        """Let windows of an idle stream end as if an event had come at a time that is `idle` behind the clock.

        The manifest records that time as it records events, so that whatever reads it later does the same."""
        idle, started = self.catalog.streams[self.plan.stream].idle, time.monotonic()
        moment = time.time_ns() // 1000 - idle
        if idle and self.manifest.state and BEGINNING < self.manifest.latest < moment:
            before = replace(self.manifest, latest=moment)
            self._advance(close(self.storage, before, prepared.program, prepared.executors.execute([])), started)

    def follow(self, catalog: Catalog, plan: Plan) -> None:
        """Go on with other queries: the next batch takes over the slices of the plan so far."""
        check_plan(catalog, plan)
        keep_plan(self.storage, plan)
        self.catalog, self.plan, self.prepared = catalog, plan, None

    def present(self, files: Sequence[File]) -> list[File]:
        """Return the files of a batch as they are now; say which have vanished since they were listed."""
        now = {file.path: file for file in current_files([file.path for file in files])}
        vanished = [file.path for file in files if file.path not in now]
        if vanished:
            self.report.notes.append(f"{_name_some(vanished)}: vanished before it was read; no answer holds its events")
        return [now[file.path]._replace(values=file.values) for file in files if file.path in now]

    def note_rewritten(self, arrived: Sequence[File]) -> None:
        """Say which files were written again after a batch had consumed them: what they hold now is not evaluated."""
        records = [record for record in load_records(self.storage) if record.batch <= self.manifest.batch]
        before = files_in_records(records)
        changed = [file.path for file in arrived if file.path in before and is_rewritten(before[file.path], file)]
        if changed:
            self.report.notes.append(
                f"{_name_some(changed)}: written again since it was evaluated, and not read again; "
                "write events to new files"
            )

    def raw(self, since: int) -> RawEvents:
        """Return the events since a time that the batches so far have taken."""
        return raw_events(self.storage, self.manifest, since) if self.manifest.batch >= 0 else RawEvents()

    def _ready(self, lane: Lane, files: Sequence[File]) -> Prepared | None:
        """Return the plan made ready and in force; None when no event has ever told the types of the columns."""
        if self.prepared is None or (files and not self.prepared.from_files):
            prepared = self._prepare_by_files(lane, files) if files else self._prepare_by_past(lane)
            if prepared is None:
                return None
            if prepared.from_files:
                self.lane, self.report.queries = prepared.lane, prepared.queries
                self.report.notes += prepared.notes
            self._take_over(prepared)
            self.prepared = prepared
        return self.prepared

    def _prepare_by_files(self, lane: Lane, files: Sequence[File]) -> Prepared:
        """Make the plan ready for new files: in the types that earlier batches had, where theirs are narrower.

        Answers are kept by their types: with other ones, those of earlier batches could not be read any more. Where a
        table's own schema was widened, its types are those of all files, and answers go on in them."""
        prepared = lane.prepare(files)
        other = other_types(self.manifest, prepared.program)
        if may_go_on_wider(prepared.program, other):
            return prepared
        if any(not can_widen(now, before) for before, now in other.values()):
            raise _refuse_types(files[0], other)
        if not other:
            return prepared
        past = raw_events(self.storage, self.manifest, BEGINNING).files
        for file in [*past[:NEWEST], *past[NEWEST:][-NEWEST:]]:
            prepared = lane.prepare([file, *files])
            if not other_types(self.manifest, prepared.program):
                return prepared
        raise _refuse_types(files[0], other)

    def _prepare_by_past(self, lane: Lane) -> Prepared | None:
        """Make the plan ready by the types that earlier batches had, or by the newest files that they took."""
        types = {name: parse_type(text) for name, text in self.manifest.types.items()}
        columns = map(quote, named_columns(self.catalog, self.plan))
        has_types = {*columns, *expressions(self.catalog, self.plan)[0]} <= types.keys()
        if not self.manifest.plan:
            return None
        is_in_force = self.manifest.plan == self.plan.fingerprint()
        files = [] if has_types and is_in_force else raw_events(self.storage, self.manifest, BEGINNING).files[-NEWEST:]
        if files:
            return lane.prepare(files)
        if not has_types:
            return None
        program = compile_program(self.catalog, self.plan, types, self._frame_queries())
        return Prepared(program, lane.executors(), from_files=False)

    def _frame_queries(self) -> set[str]:
        return frame_queries(self.catalog, self.plan, self.storage, self.manifest)

    def _take_over(self, prepared: Prepared) -> None:
        """Change plans at the boundary of a batch, before anything is emitted."""
        if not self.manifest.plan:
            return
        widened = other_types(self.manifest, prepared.program)
        if not widened and is_served_by(prepared.program, load_retained(self.storage, self.manifest.standing)):
            return
        started, before = time.monotonic(), self.manifest
        adopted = adopt(self.storage, before, prepared.program, self.raw, prepared.executors, anew=bool(widened))
        self.report.notes += [f"{sql} is {now} now, and was {was}" for sql, (was, now) in widened.items()]
        self.report.notes += adopted_notes(before, adopted)
        self._advance(adopted.manifest, started)

    def _advance(self, after: Manifest, started: float) -> None:
        if after.sequence == self.manifest.sequence:
            return
        self.manifest = after
        self.report.add(after.counts, time.monotonic() - started, after.batch)
        self.progress(after, time.monotonic() - started)
        if is_followed(self.catalog, self.plan.stream):
            enter_published(self.storage)
        if after.sequence % SWEEP_EVERY == 0:
            self.sweep()

    def sweep(self) -> None:
        """Delete what no manifest of the last few names, and list what the next sweep may delete."""
        sweep(self.storage, self.manifest, self.listing)
        if not self.storage.local:
            self.listing = list_data(self.storage, self.manifest)


def frame_queries(catalog: Catalog, plan: Plan, storage: Storage, manifest: Manifest) -> set[str]:
    """Return the queries whose trees are apart since only Spark evaluates them, as the retained slices have it."""
    labels = set(load_retained(storage, manifest.standing).frame)
    ids = [str(id) for tree in plan.trees for id in tree.queries] if labels else []
    return {id for id in ids if label_of(catalog.query(id)) in labels}


def is_followed(catalog: Catalog, stream: str) -> bool:
    """Say whether someone wants the published answers of a stream, each exactly once: a sink or an alert."""
    return bool(catalog.streams[stream].sinks) or any(catalog.stream_of(id) == stream for id in catalog.alerts)


def _name_some(paths: Sequence[str]) -> str:
    return paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"


def other_types(manifest: Manifest, program: Program) -> dict[str, tuple[pa.DataType, pa.DataType]]:
    """Return the expressions and columns that a program has in other types than batches before, with both types."""
    both = {
        sql: (plain_type(parse_type(manifest.types[sql])), plain_type(kind))
        for sql, kind in program.kept_types.items()
        if sql in manifest.types
    }
    return {sql: (before, now) for sql, (before, now) in both.items() if before != now}


def may_go_on_wider(program: Program, other: Mapping[str, tuple[pa.DataType, pa.DataType]]) -> bool:
    """Say whether a table's schema explains that some types are others now: all are wider."""
    return program.table is not None and all(can_widen(before, now) for before, now in other.values())


def _refuse_types(file: File, other: Mapping[str, tuple[pa.DataType, pa.DataType]]) -> HeddleError:
    sql, (before, now) = min(other.items(), key=lambda item: can_widen(item[1][1], item[1][0]))
    return HeddleError(
        f"{file.path}: {sql} is {now}; write it as {before}, as it was in the batches before, or evaluate into a new "
        "--warehouse"
    )


@contextmanager
def open_run(
    catalog: Catalog, plan: Plan, warehouse: str, engine: Engine, buckets: int, progress: Progress
) -> Iterator[Run]:
    """Hold the stream's warehouse for one run."""
    check_plan(catalog, plan)
    storage = stream_storage(warehouse, plan.stream)
    with only_run(storage), CpuMeter(_oldest_process()) as meter:
        manifest = newest(storage)
        claim(storage, engine, manifest)
        keep_plan(storage, plan)
        if is_followed(catalog, plan.stream):
            enter_published(storage)
        run = Run(catalog, plan, storage, replace(manifest, buckets=manifest.buckets or buckets), progress)
        run.sweep()
        yield run
        sweep(storage, run.manifest, run.listing)
    run.report.finish(run.plan, run.lane, meter, run.manifest.buckets)


def _oldest_process() -> int:
    """Return the process whose CPU seconds count: under spark-submit the JVM, which started Python, else Python."""
    return os.getppid() if "PYSPARK_GATEWAY_PORT" in os.environ else os.getpid()


def check_plan(catalog: Catalog, plan: Plan) -> None:
    """Refuse a plan that was made for other queries."""
    if plan.catalog_fingerprint != catalog.fingerprint(plan.stream):
        raise HeddleError(
            f"the plan of stream {plan.stream} was made for another catalog; make a new one with `heddle plan --out`"
        )
