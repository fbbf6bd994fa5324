"""The one builder of worlds: a folder with a stream's files of events and a catalog of queries over them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.engine.events.file_types import file_types
from jobs.engine.program.compile import compile_program
from jobs.engine.program.program import Program
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.definition import Plan
from optimizer.planning.stream import plan_stream
from optimizer.strategies.contract.problem import DEFAULT_OPTIONS, SearchOptions
from tests.worlds.streams import Row, table_of

STREAM = "events"
LONG_AGO = 1_600_000_000  # seconds


@dataclass(frozen=True)
class Folder:
    """A folder with events that arrived in batches, one file each, and a catalog of queries over them."""

    folder: Path
    catalog: Catalog

    @property
    def files(self) -> list[Path]:
        """The files of the events, in the order they arrived."""
        return sorted((self.folder / "data").glob("*.parquet"))

    def path(self, number: int) -> Path:
        """The file of a batch."""
        return event_file(self.folder, number)


@dataclass(frozen=True)
class World(Folder):
    """A stream `events` with any events and queries."""

    def plan(
        self,
        strategy: str = "weave_share",
        technique: str = "auto",
        rate: float = 10.0,
        options: SearchOptions = DEFAULT_OPTIONS,
    ) -> Plan:
        """A plan of the catalog."""
        return plan_stream(self.catalog, STREAM, rate, strategy, technique, options=options)

    def program(self, plan: Plan) -> Program:
        """The program of a plan, for the file lane."""
        return compile_program(self.catalog, plan, file_types(self.catalog, plan, str(self.files[0])))


def make_world(
    folder: Path, batches: Sequence[list[Row] | pa.Table], queries: Sequence[Any], lateness: int, **settings: str
) -> World:
    """Write the batches and the catalog; the lateness in microseconds, and other settings of the stream."""
    catalog = write_stream(folder, STREAM, queries, f"{lateness} microseconds", **settings)
    for number, batch in enumerate(batches):
        add_batch(folder, number, batch)
    return World(folder, catalog)


def write_stream(folder: Path, stream: str, queries: Sequence[Any], lateness: str, **settings: str) -> Catalog:
    """Make the folders and the catalog of a stream without events."""
    (folder / "catalog").mkdir(parents=True)
    (folder / "data").mkdir()
    source = {"format": "parquet", "path": str(folder / "data")}
    settings = {"time": "ts", "lateness": lateness, **settings}
    document = {"streams": {stream: {"source": source, **settings}}, "queries": list(queries)}
    (folder / "catalog" / "catalog.yaml").write_text(
        json.dumps(document, ensure_ascii=False), encoding="utf-8"
    )  # which is YAML
    return load_catalog(folder / "catalog")


def add_batch(folder: Path, number: int, batch: list[Row] | pa.Table) -> None:
    """One more file of events; Spark's file source takes files by their age."""
    path = event_file(folder, number)
    pq.write_table(batch if isinstance(batch, pa.Table) else table_of(batch), path)
    os.utime(path, (LONG_AGO + number, LONG_AGO + number))


def event_file(folder: Path, number: int) -> Path:
    """The file of a batch: names are in the order of arrival."""
    return folder / "data" / f"part-{number:05d}.parquet"


def query(id: str, select: str, range: int, slide: int = 0, **more: Any) -> dict[str, Any]:
    """One query of the catalog; times in microseconds."""
    lengths = {"range": range, "slide": slide or range, "offset": more.pop("offset", 0)}
    durations = {name: f"{length} microseconds" for name, length in lengths.items() if length or name != "offset"}
    return {"id": id, "stream": STREAM, "select": select, **durations, **more}
