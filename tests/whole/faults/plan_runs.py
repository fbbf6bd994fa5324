"""Runs whose plans change from one to the next, in processes that may die; and what they ought to have published."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from jobs.engine.program.program import key_column
from jobs.engine.program.queries import label_of
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import Manifest, newest
from jobs.engine.warehouse.result_files import QUERY, START, value_column
from jobs.host.stops import KILL_AT
from jobs.runs.in_process import evaluate_local
from jobs.runs.on_spark import evaluate
from jobs.runs.report import RunReport
from jobs.runs.request import Options
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.definition import Plan
from optimizer.planning.stream import plan_stream
from optimizer.windows.window import BEGINNING
from tests.jobs.engine.questions import Question
from tests.worlds.streams import Row, ticks
from tests.worlds.warehouse import STREAM, add_batch

ROOT = Path(__file__).parents[3]
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.whole.faults.plan_runs"])
Places = dict[tuple[tuple[Any, ...], int], Any]  # (key, window start) -> what is there


@dataclass
class Changing:
    """One warehouse, evaluated under one plan after another, and what each run of them ought to emit."""

    folder: Path
    batches: list[list[Row]] = field(default_factory=list)
    expected: dict[str, tuple[Question, Places]] = field(default_factory=dict)  # by label

    def __post_init__(self) -> None:
        (self.folder / "data").mkdir(parents=True)

    @property
    def warehouse(self) -> str:
        """The warehouse of all runs."""
        return str(self.folder / "warehouse")

    @property
    def manifest(self) -> Manifest:
        """Where it stands."""
        return newest(stream_storage(self.warehouse, STREAM))

    def arrive(self, *batches: list[Row]) -> None:
        """More files, one batch each."""
        for batch in batches:
            add_batch(self.folder, len(self.batches), batch)
            self.batches.append(batch)

    def plan(self, asked: dict[str, Question], lateness: int, strategy: str) -> tuple[Catalog, Plan]:
        """A catalog of some queries, and its plan; both on disk, too."""
        return write_plan(self.folder, [question.entry(id) for id, question in asked.items()], lateness, strategy)

    def run(
        self,
        asked: dict[str, Question],
        lateness: int,
        strategy: str,
        spark: SparkSession | None = None,
        lane: str = "auto",
    ) -> RunReport:
        """A run that ends well, without Spark or on it; the watermark is where it ought to be."""
        catalog, plan = self.plan(asked, lateness, strategy)
        before = self.manifest
        options = Options(lane or "auto", files_per_batch=1, buckets=2)
        if spark is None:
            report = evaluate_local(catalog, plan, self.warehouse, options)
        else:
            report = evaluate(spark, catalog, plan, self.warehouse, options)
        self._expect(asked, catalog, before)
        after = self.manifest
        latest = max((row["ts"] for batch in self.batches for row in batch if row["ts"] is not None), default=BEGINNING)
        assert after.watermark == (
            before.watermark if latest == BEGINNING else max(before.watermark, latest - lateness)
        )
        return report

    def run_killed(self, asked: dict[str, Question], lateness: int, strategy: str, kill_at: str) -> None:
        """The same, killed when a step is reached, if it is."""
        catalog, _ = self.plan(asked, lateness, strategy)
        before = self.manifest
        orders = self.folder / "orders"
        orders.mkdir(exist_ok=True)
        (orders / kill_at).touch()
        process = FORKS.Process(target=_child, args=(self.folder, self.warehouse, orders))
        process.start()
        process.join()
        (orders / kill_at).unlink(missing_ok=True)
        self._expect(asked, catalog, before)

    def run_killed_on_spark(
        self, asked: dict[str, Question], lateness: int, strategy: str, kills: dict[str, str]
    ) -> int:
        """The same on Spark: `driver` dies for good when its step is reached, a worker (no name) is replaced."""
        catalog, _ = self.plan(asked, lateness, strategy)
        before = self.manifest
        orders = self.folder / "orders"
        orders.mkdir(exist_ok=True)
        for step, victim in kills.items():
            (orders / step).write_text(victim)
        command = [sys.executable, "-m", "tests.whole.faults.plan_driver", str(self.folder), self.warehouse]
        environment = {**os.environ, KILL_AT: str(orders)}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert not [order.name for order in orders.iterdir()], done.stderr[-2000:]
        self._expect(asked, catalog, before)
        return done.returncode

    def _expect(self, asked: dict[str, Question], catalog: Catalog, before: Manifest) -> None:
        """Windows that ended during the run hold the events of all batches up to the one that emitted them."""
        after = self.manifest
        low = before.watermark
        for mark in after.marks:
            if mark.watermark <= low:
                continue
            arrived = [row for batch in self.batches[: mark.batch + 1] for row in batch]
            for id, question in asked.items():
                places = self.expected.setdefault(label_of(catalog.query(id)), (question, {}))[1]
                for place, rows in question.held(arrived).items():
                    if low < place[1] + question.window.range <= mark.watermark:
                        places[place] = rows
            low = mark.watermark

    def check(self) -> None:
        """Every window that ought to be there is, once, with a right value; and nothing else is."""
        found = published(self.warehouse, {name: question for name, (question, _) in self.expected.items()})
        for name, (question, places) in self.expected.items():
            assert found[name].keys() == places.keys(), (name, found[name].keys() ^ places.keys())
            for place, rows in places.items():
                assert question.fits(rows, found[name][place]), (name, question, place, found[name][place], rows)


def write_plan(folder: Path, queries: Sequence[Any], lateness: int, strategy: str) -> tuple[Catalog, Plan]:
    """Write the catalog and a plan for it."""
    source = {"format": "parquet", "path": str(folder / "data")}
    stream = {"source": source, "time": "ts", "lateness": f"{lateness} microseconds"}
    (folder / "catalog").mkdir(exist_ok=True)
    (folder / "catalog" / "catalog.yaml").write_text(json.dumps({"streams": {STREAM: stream}, "queries": queries}))
    catalog = load_catalog(folder / "catalog")
    plan = plan_stream(catalog, STREAM, 10.0, strategy, "auto")
    (folder / "plan.json").write_text(plan.to_json())
    return catalog, plan


def published(warehouse: str, asked: dict[str, Question]) -> dict[str, Places]:
    """Every answer by the label of its query; a window that is there twice fails, and so does an unknown label."""
    storage = stream_storage(warehouse, STREAM)
    found: dict[str, Places] = {name: {} for name in asked}
    for file in newest(storage).results:
        for row in pq.read_table(storage.path(file.name)).to_pylist():
            kept = found[row[QUERY]]
            place = tuple(row[key_column(name)] for name in asked[row[QUERY]].group_by), ticks(row[START])
            values = [row[name] for name in row if name.startswith(value_column("")) and row[name] is not None]
            assert place not in kept, (row[QUERY], place)
            value = values[0] if values else None
            kept[place] = ticks(value) if isinstance(value, datetime) else value
    return found


def _child(folder: Path, warehouse: str, orders: Path) -> None:
    os.environ[KILL_AT] = str(orders)
    plan = Plan.from_json((folder / "plan.json").read_text())
    evaluate_local(load_catalog(folder / "catalog"), plan, warehouse, Options(files_per_batch=1, buckets=2))
