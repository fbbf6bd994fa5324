"""A small stream with late events, null keys and doubles that do not add up evenly; and ways to compare warehouses."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from jobs.engine.warehouse.lifecycle import DATA_FOLDERS, SMALL_FOLDERS, stream_storage
from jobs.engine.warehouse.manifest import manifest_names, newest, remembered
from jobs.results import late_table, results_table
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.definition import Plan
from optimizer.planning.stream import plan_stream
from tests.jobs.engine.sharding import forced

STREAM = "readings"
SECOND = 1_000_000
EVENTS = 600  # in a file, which covers a minute
LENGTHS = {"range": "20 seconds", "slide": "5 seconds"}
QUERIES = [
    {"id": "total", "stream": STREAM, "select": "sum(x)", "group_by": ["k"], **LENGTHS},
    {"id": "both", "stream": STREAM, "select": ["max(x) AS top", "count(*) AS n"], "where": "x > 0", **LENGTHS},
    {"id": "newest", "stream": STREAM, "select": "last(k)", "group_by": ["k"], "range": "30 seconds"},
    {"id": "rising", "stream": STREAM, "select": "sum(x)", "where": "x > 0.5", "group_by": ["k"], **LENGTHS},
    {"id": "lately", "stream": STREAM, "select": "sum(x)", "group_by": ["k"], "range": "50 rows", "slide": "7 rows"},
]


@dataclass(frozen=True)
class World:
    """Events that arrive file by file, a catalog over them, and its plan."""

    folder: Path
    catalog: Catalog
    plan: Plan

    def arrive(self, *numbers: int) -> None:
        """Some more files of events."""
        for number in numbers:
            path = self.path(number)
            pq.write_table(events(number), path)
            os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))

    def path(self, number: int) -> Path:
        """The file of this number."""
        return self.folder / "data" / f"part-{number}.parquet"

    def warehouse(self, name: str) -> str:
        """A warehouse's folder."""
        return str(self.folder / name)

    def copy(self, source: str, name: str) -> str:
        """A copy of a warehouse, to do harm to."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        shutil.copytree(self.folder / source, self.folder / name)
        return self.warehouse(name)


def make_world(folder: Path) -> World:
    """A world without events."""
    (folder / "data").mkdir(parents=True)
    (folder / "catalog").mkdir()
    source = {"format": "parquet", "path": str(folder / "data")}
    document = {"streams": {STREAM: {"source": source, "time": "ts", "lateness": "2 seconds"}}, "queries": QUERIES}
    (folder / "catalog" / "catalog.yaml").write_text(yaml.safe_dump(document))
    return open_world(folder)


def open_world(folder: Path) -> World:
    """A world that was made before."""
    catalog = load_catalog(folder / "catalog")
    return World(folder, catalog, forced(plan_stream(catalog, STREAM, 10.0, "shared", "two_stacks_block")))


def events(number: int) -> pa.Table:
    """The events of a file: a minute's, some of them from two minutes ago."""
    draw = np.random.default_rng(number)
    times = number * 60 * SECOND + draw.integers(0, 60 * SECOND, EVENTS)
    times -= np.where(draw.random(EVENTS) < 0.05, 120 * SECOND, 0)
    keys = np.array(["a", "b", "c", None], object)[draw.integers(0, 4, EVENTS)]
    stamps = pa.array(times).cast(pa.timestamp("us", "UTC"))
    return pa.table({"ts": stamps, "k": pa.array(keys), "x": draw.normal(0, 1e6, EVENTS)})


def published(world: World, warehouse: str) -> dict[str, pa.Table]:
    """Every answer and every late event, sorted."""
    answers = {id: results_table(warehouse, world.catalog, id) for id in world.catalog.statements}
    late = late_table(warehouse, STREAM)
    return answers | {"late": late.sort_by([(name, "ascending") for name in late.column_names])}


def assert_same(world: World, warehouse: str, reference: str) -> None:
    """The same rows, bit for bit, and no file that no manifest names."""
    found, expected = published(world, warehouse), published(world, reference)
    for name, table in expected.items():
        assert table.num_rows
        assert found[name].equals(table), name
    assert_swept(warehouse)


def assert_swept(warehouse: str) -> None:
    """Nothing on disk that the newest manifests do not name."""
    storage = stream_storage(warehouse, STREAM)
    named = {file for manifest in remembered(storage, manifest_names(storage)) for file in manifest.files()}
    assert {name for folder in DATA_FOLDERS for name in storage.names(folder)} == named
    assert newest(storage).files() <= named
    assert not [name for folder in SMALL_FOLDERS for name in storage.drafts(folder)]
