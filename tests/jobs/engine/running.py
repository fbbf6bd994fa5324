"""Runs a catalog over batches of events, in this process or on Spark, and reads every answer back."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from jobs.engine.batch.in_process import in_process
from jobs.engine.batch.run_batch import close, run_batch
from jobs.engine.events.file_types import file_types
from jobs.engine.events.parquet import Split
from jobs.engine.program.compile import compile_program
from jobs.engine.program.program import Program, key_column
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import Manifest, newest
from jobs.engine.warehouse.result_files import QUERY, START, value_column
from jobs.host.storage import Storage
from jobs.runs.evaluate import evaluate
from jobs.runs.report import RunReport
from jobs.runs.request import Options
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.definition import Plan
from optimizer.planning.stream import plan_stream
from tests.jobs.engine.world import Row, table_of, ticks

STREAM = "events"
Answers = dict[str, dict[tuple[tuple[Any, ...], int], Any]]  # query -> (key, window start) -> value


@dataclass(frozen=True)
class World:
    """A folder with events that arrived in batches, one file each, and a catalog of queries over them."""

    folder: Path
    catalog: Catalog

    @property
    def files(self) -> list[Path]:
        """The files of the events, in the order they arrived."""
        return sorted((self.folder / "data").glob("*.parquet"))

    def plan(self, strategy: str = "weave_share", technique: str = "auto", rate: float = 10.0) -> Plan:
        """A plan of the catalog."""
        return plan_stream(self.catalog, STREAM, rate, strategy, technique)

    def program(self, plan: Plan) -> Program:
        """The program of a plan, for the file lane."""
        return compile_program(self.catalog, plan, file_types(self.catalog, plan, str(self.files[0])))


def make_world(folder: Path, batches: Sequence[list[Row] | pa.Table], queries: Sequence[Any], lateness: int) -> World:
    """Write the batches and the catalog."""
    (folder / "catalog").mkdir(parents=True)
    (folder / "data").mkdir()
    for number, batch in enumerate(batches):
        add_batch(folder, number, batch)
    stream = {"source": {"format": "parquet", "path": str(folder / "data")}, "time": "ts"}
    document = {"streams": {STREAM: {**stream, "lateness": f"{lateness} microseconds"}}, "queries": list(queries)}
    (folder / "catalog" / "catalog.yaml").write_text(json.dumps(document))  # which is YAML, too
    return World(folder, load_catalog(folder / "catalog"))


def add_batch(folder: Path, number: int, batch: list[Row] | pa.Table) -> None:
    """One more file of events; Spark's file source takes files by their age."""
    path = folder / "data" / f"part-{number:05d}.parquet"
    pq.write_table(batch if isinstance(batch, pa.Table) else table_of(batch), path)
    os.utime(path, (1_600_000_000 + number, 1_600_000_000 + number))


def query(id: str, select: str, range: int, slide: int = 0, **more: Any) -> dict[str, Any]:
    """One query of the catalog; times in microseconds."""
    lengths = {"range": range, "slide": slide or range, "offset": more.pop("offset", 0)}
    durations = {name: f"{length} microseconds" for name, length in lengths.items() if length or name != "offset"}
    return {"id": id, "stream": STREAM, "select": select, **durations, **more}


def run_in_process(
    world: World, plan: Plan, buckets: int = 1, close_each: bool = False, warehouse: str = "local", last: bool = False
) -> tuple[Storage, list[Manifest]]:
    """Every file is a batch; windows are closed after the last one, or after each, or each is the last of a run."""
    storage = stream_storage(str(world.folder / warehouse), STREAM)
    program = world.program(plan)
    manifests = [replace(Manifest(), buckets=buckets)]
    for number, file in enumerate(world.files):
        execute = in_process([Split(str(file), file.stat().st_size)])
        manifests.append(run_batch(storage, manifests[-1], program, number, execute, last))
        if close_each or file == world.files[-1]:
            closed = close(storage, manifests[-1], program, in_process([]))
            manifests += [closed] if closed != manifests[-1] else []
    return storage, manifests[1:]


def run_on_spark(
    spark: SparkSession, world: World, plan: Plan, lane: str, buckets: int = 2, files_per_batch: int = 1
) -> tuple[Storage, Manifest, RunReport]:
    """The same by the job itself."""
    warehouse = str(world.folder / f"warehouse_{lane}")
    report = evaluate(spark, world.catalog, plan, warehouse, Options(lane, files_per_batch, buckets=buckets))
    storage = stream_storage(warehouse, STREAM)
    return storage, newest(storage), report


def answers_in(world: World, storage: Storage, manifest: Manifest, plan: Plan) -> Answers:
    """Every answer the manifest's files hold; a window that is there twice fails."""
    found: Answers = {str(id): {} for tree in plan.trees for id in tree.queries}
    for file in manifest.results:
        rows = pq.read_table(storage.path(file.name), filesystem=storage.filesystem).to_pylist()
        for row in rows:
            id = row[QUERY].partition("@")[0]
            kept = found[id]
            key = tuple(row[key_column(name)] for name in world.catalog.query(id).group_by)
            values = [row[name] for name in row if name.startswith(value_column("")) and row[name] is not None]
            place = key, ticks(row[START])
            assert place not in kept, (id, place)
            value = values[0] if values else None
            kept[place] = ticks(value) if isinstance(value, datetime) else value
    return found


def late_rows(storage: Storage, manifest: Manifest) -> list[Row]:
    """The late table."""
    tables = [pq.read_table(storage.path(file.name), filesystem=storage.filesystem) for file in manifest.late]
    return [row for table in tables for row in table.to_pylist()]
