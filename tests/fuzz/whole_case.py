"""A whole case as plain data: files of odd events, a stream over them, statements in SQL, how they are evaluated."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from jobs.results import results_table
from jobs.runs.in_process import evaluate_local
from jobs.runs.on_spark import evaluate
from jobs.runs.request import Options
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.sql.expressions import quote
from optimizer.plan.definition import Plan
from optimizer.planning.stream import plan_stream
from optimizer.strategies.contract.problem import SearchOptions
from tests.fuzz.deliveries import deliver_published, sink_fields
from tests.fuzz.write_events import Layout, write_file
from tests.jobs.engine.shard_plans import forced
from tests.worlds.deaths import killed_at, run_with_deaths
from tests.worlds.streams import Row
from tests.worlds.warehouse import LONG_AGO, STREAM


@dataclass(frozen=True)
class Statement:
    """One statement: its text in SQL, and what its answers are compared by."""

    sql: str
    length: int  # the range of its window
    keys: int  # group-by columns
    aggregates: tuple[tuple[str, str, str], ...]  # name, first argument, filter: c0, c1, ... of the answers
    features: tuple[str, ...] = ()
    alert: str = ""  # a condition over its answers


@dataclass(frozen=True)
class Evaluation:
    """How the stream is evaluated: in a lane, by one plan after another."""

    lane: str  # local, auto, file or frame
    strategies: tuple[str, ...]  # those after the first take over one file later each
    technique: str
    slicing: str
    shards: bool
    files_per_batch: int
    buckets: int
    ways: tuple[str, ...] = ()  # other ways to the same answers, of tests/fuzz/ways.py
    sinks: tuple[str, ...] = ()  # formats in which the answers are wanted elsewhere
    kills: tuple[str, ...] = ()  # steps at which every run dies once, in one process


@dataclass(frozen=True)
class WholeCase:
    """Everything that a run depends on."""

    seed: int
    layout: Layout
    batches: tuple[tuple[Row, ...], ...]  # the events of each file
    lateness: int
    zone: str
    statements: Mapping[str, Statement]
    evaluation: Evaluation
    corrections: int = 0  # microseconds after its end that a window takes in late events
    is_idle: bool = False  # the clock ends windows that no event ends
    is_sql: bool = False  # the stream is made by SQL from another one, which has the files

    def write(self, folder: Path) -> None:
        """Write the files of events, each a second younger than the one before it, and the catalog."""
        for number, (name, rows) in enumerate(zip(self.layout.files, self.batches, strict=True)):
            path = folder / "data" / name
            write_file(path, rows, self.layout)
            os.utime(path, (LONG_AGO + number, LONG_AGO + number))
        source = {"format": self.layout.format, "path": str(folder / "data"), "options": dict(self.layout.options)}
        stream = {
            "source": source,
            "time": quote(self.layout.names["ts"]),
            "lateness": f"{self.lateness} microseconds",
            "zone": self.zone,
            **({"corrections": f"{self.corrections} microseconds"} if self.corrections else {}),
        }
        stream |= {"idle": "5 minutes"} if self.is_idle else {}
        streams = {STREAM: stream}
        if self.is_sql:
            streams = {"raw": stream, STREAM: {**stream, "source": {"sql": f"SELECT * FROM raw WHERE {self.kept}"}}}
        streams[STREAM] |= {"sinks": sink_fields(folder, self.evaluation.sinks)} if self.evaluation.sinks else {}
        alerts = {id: {"alert": each.alert} for id, each in self.statements.items() if each.alert}
        queries = [{"id": id, "sql": each.sql, **alerts.get(id, {})} for id, each in self.statements.items()]
        document = {"streams": streams, "queries": queries}
        (folder / "catalog").mkdir(parents=True, exist_ok=True)
        (folder / "catalog" / "catalog.yaml").write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")

    @property
    def kept(self) -> str:
        """Which events the SQL of a stream keeps, whose time is never left out."""
        return f"{quote(self.layout.names['m'])} > 0 OR {quote(self.layout.names['m'])} IS NULL"

    def run(self, folder: Path, spark: Any) -> Catalog:
        """Evaluate the files as they arrive, into the folder's warehouse."""
        catalog, how = load_catalog(folder / "catalog"), self.evaluation
        waiting = [folder / "data" / name for name in self.layout.files]
        (folder / "waiting").mkdir()
        for number, file in enumerate(waiting):
            file.rename(folder / "waiting" / str(number))
        arrived = 0
        for number, strategy in enumerate(how.strategies):
            last = number == len(how.strategies) - 1
            for place in range(arrived, len(waiting) if last else min(arrived + 1, len(waiting))):
                (folder / "waiting" / str(place)).rename(waiting[place])
                arrived = place + 1
            options = Options("auto" if how.lane == "local" else how.lane, how.files_per_batch, buckets=how.buckets)
            plan = self.plan(catalog, strategy)
            with killed_at(how.kills):
                run_with_deaths(how.kills, partial(self._run_once, spark, catalog, plan, folder, options))
        return catalog

    def _run_once(self, spark: Any, catalog: Catalog, plan: Plan, folder: Path, options: Options) -> None:
        if self.evaluation.lane == "local":
            evaluate_local(catalog, plan, str(folder / "warehouse"), options)
        else:
            evaluate(spark, catalog, plan, str(folder / "warehouse"), options)
        if self.delivers:
            deliver_published(catalog, folder)

    @property
    def delivers(self) -> bool:
        """Whether answers are wanted elsewhere, or watched."""
        return bool(self.evaluation.sinks) or any(statement.alert for statement in self.statements.values())

    def plan(self, catalog: Catalog, strategy: str) -> Plan:
        """Plan the statements by one of the strategies."""
        how = self.evaluation
        options = SearchOptions(slicing=how.slicing)
        return forced(plan_stream(catalog, STREAM, 10.0, strategy, how.technique, options=options), how.shards)

    def answers(self, folder: Path, catalog: Catalog, id: str) -> pa.Table:
        """Return the answers to a statement."""
        return results_table(str(folder / "warehouse"), catalog, id)

    def features(self) -> Iterator[str]:
        """Yield what the case has, as words."""
        layout, how = self.layout, self.evaluation
        yield f"lane {how.lane}"
        yield f"times: {layout.time}"
        yield f"format {layout.format}"
        yield "odd names" if layout.names["ts"] != "ts" else "plain names"
        yield "small row groups" if layout.rows_per_group < 100 else "one row group"
        yield "dictionaries" if layout.dictionaries else "no dictionaries"
        yield from (f"folder of {name}" for name in layout.folders)
        yield "folders of columns" if layout.folders else "no folders of columns"
        yield from (f"option {name}" for name in layout.options)
        yield "in UTC" if self.zone == "UTC" else "in a zone"
        yield f"lateness {self.lateness > 0}"
        yield "an idle stream" if self.is_idle else "a stream that waits"
        yield "a stream by SQL" if self.is_sql else "a stream of files"
        yield from (f"sink {format}" for format in how.sinks)
        yield from (f"dies at {step}" for step in how.kills)
        yield "odd names of folders" if any(k != v for k, v in layout.folder_names.items()) else "plain folders"
        yield "corrections" if self.corrections else "no corrections"
        yield from (f"by way of {way}" for way in how.ways)
        yield "all files at once" if not how.files_per_batch else "some files a batch"
        yield "plan change" if len(how.strategies) > 1 else "one plan"
        yield from (f"strategy {strategy}" for strategy in how.strategies)
        yield from (f"technique {how.technique}", f"slicing {how.slicing}", f"shards {how.shards}")
        for statement in self.statements.values():
            yield from statement.features
            yield f"{statement.keys} keys"
            yield from (f"aggregate {name}" for name, _, _ in statement.aggregates)
            yield from ("filter" if only else "no filter" for _, _, only in statement.aggregates)
