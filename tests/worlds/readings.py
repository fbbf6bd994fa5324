"""A small stream with late events, null keys and doubles that do not add up evenly; and ways to compare warehouses."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from jobs.engine.warehouse.lifecycle import DATA_FOLDERS, SMALL_FOLDERS, stream_storage
from jobs.engine.warehouse.manifest import load_past, manifest_names, newest
from jobs.results import late_table, results_table
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.definition import Plan
from optimizer.planning.stream import plan_stream
from tests.jobs.engine.shard_plans import forced
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import Folder, add_batch, write_stream

STREAM = "readings"
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
class Readings(Folder):
    """A stream `readings` that arrives file by file, and the plan of its catalog."""

    plan: Plan

    def arrive(self, *numbers: int) -> None:
        """Some more files of events."""
        for number in numbers:
            add_batch(self.folder, number, events(number))

    def warehouse(self, name: str) -> str:
        """A warehouse's folder."""
        return str(self.folder / name)

    def copy(self, source: str, name: str) -> str:
        """A copy of a warehouse, to do harm to."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        shutil.copytree(self.folder / source, self.folder / name)
        return self.warehouse(name)


def make_world(folder: Path) -> Readings:
    """A world without events."""
    write_stream(folder, STREAM, QUERIES, "2 seconds")
    return open_world(folder)


def open_world(folder: Path) -> Readings:
    """A world that was made before."""
    catalog = load_catalog(folder / "catalog")
    return Readings(folder, catalog, forced(plan_stream(catalog, STREAM, 10.0, "shared", "two_stacks_block")))


def events(number: int) -> pa.Table:
    """The events of a file: a minute's, some of them from two minutes ago."""
    draw = np.random.default_rng(number)
    times = number * 60 * SECOND + draw.integers(0, 60 * SECOND, EVENTS)
    times -= np.where(draw.random(EVENTS) < 0.05, 120 * SECOND, 0)
    keys = np.array(["a", "b", "c", None], object)[draw.integers(0, 4, EVENTS)]
    stamps = pa.array(times).cast(pa.timestamp("us", "UTC"))
    return pa.table({"ts": stamps, "k": pa.array(keys), "x": draw.normal(0, 1e6, EVENTS)})


def published(world: Readings, warehouse: str) -> dict[str, pa.Table]:
    """Every answer and every late event, sorted."""
    answers = {id: results_table(warehouse, world.catalog, id) for id in world.catalog.statements}
    late = late_table(warehouse, STREAM)
    return answers | {"late": late.sort_by([(name, "ascending") for name in late.column_names])}


def assert_same(world: Readings, warehouse: str, reference: str) -> None:
    """The same rows, bit for bit, and no file that no manifest names."""
    found, expected = published(world, warehouse), published(world, reference)
    for name, table in expected.items():
        assert table.num_rows
        assert found[name].equals(table), (name, found[name].num_rows, table.num_rows, _apart(found[name], table))
    assert_swept(warehouse)


def _apart(found: pa.Table, expected: pa.Table) -> list[str]:
    """Some rows that only one of two tables has."""
    here, there = ({repr(row) for row in table.to_pylist()} for table in (found, expected))
    return [*sorted(here - there)[:2], *sorted(there - here)[:2]]


def assert_swept(warehouse: str) -> None:
    """Nothing on disk that the newest manifests do not name."""
    storage = stream_storage(warehouse, STREAM)
    named = {file for manifest in load_past(storage, manifest_names(storage)) for file in manifest.files()}
    assert {name for folder in DATA_FOLDERS for name in storage.names(folder)} == named
    assert newest(storage).files() <= named
    assert not [name for folder in SMALL_FOLDERS for name in storage.drafts(folder)]
