"""Runs a catalog over batches of events, in this process or on Spark, and reads every answer back."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from jobs.engine.batch.run_batch import close, run_batch
from jobs.engine.events.parquet import Split
from jobs.engine.program.program import key_column
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import Manifest, newest
from jobs.engine.warehouse.result_files import QUERY, START, value_column
from jobs.host.storage import Storage
from jobs.runs.in_process import in_process
from jobs.runs.on_spark import evaluate
from jobs.runs.report import RunReport
from jobs.runs.request import Options
from optimizer.plan.definition import Plan
from tests.worlds.streams import Row, ticks
from tests.worlds.warehouse import STREAM, World

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Answers = dict[str, dict[tuple[tuple[Any, ...], int], Any]]  # query -> (key, window start) -> value


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
