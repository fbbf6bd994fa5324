"""`idle`: the last windows of a stream without new events end by the clock, once, and what comes then is late."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.results import late_table, read_open_windows, results_table
from jobs.runs import run as run_module
from jobs.runs.frames import run_table
from jobs.runs.in_process import evaluate_local
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.write import print_stream
from optimizer.errors import CatalogError
from optimizer.planning.stream import plan_stream
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import LONG_AGO, STREAM, add_batch, event_file, make_world, query

HOUR = 3600 * SECOND
ENTRIES = [query("n", "count(*)", 60 * SECOND, 20 * SECOND), query("peak", "max(x)", 600 * SECOND, group_by=["k"])]


def events(last: int) -> pa.Table:
    """A minute of events up to a time."""
    times = pa.array([last - second * SECOND for second in range(60)]).cast(pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "k": ["a", "b"] * 30, "x": list(range(60))})


def set_idle(folder: Path, idle: str) -> Catalog:
    """Rewrite the catalog with an `idle`."""
    file = folder / "catalog" / "catalog.yaml"
    content = yaml.safe_load(file.read_text())
    content["streams"][STREAM]["idle"] = idle
    file.write_text(yaml.dump(content))
    return load_catalog(folder / "catalog")


def evaluate(folder: Path, catalog: Catalog) -> int:
    plan = plan_stream(catalog, STREAM, 10.0)
    return evaluate_local(catalog, plan, str(folder / "warehouse")).results


def test_the_last_windows_end_once_and_later_events_are_late(tmp_path: Path) -> None:
    now = time.time_ns() // 1000
    world = make_world(tmp_path, [events(now - HOUR)], ENTRIES, 5 * SECOND)
    catalog = set_idle(tmp_path, "30 minutes")
    assert evaluate(tmp_path, catalog) > 0
    whole = run_table(catalog, events(now - HOUR))
    warehouse = str(tmp_path / "warehouse")
    for id in catalog.statements:
        assert results_table(warehouse, catalog, id).to_pylist() == whole[id].to_pylist()
        assert not read_open_windows(warehouse, catalog, id).num_rows
    manifest = newest(stream_storage(warehouse, STREAM))
    assert now - HOUR / 2 <= manifest.latest < now
    assert manifest.watermark == manifest.latest - 5 * SECOND
    assert evaluate(tmp_path, catalog) == 0
    add_batch(world.folder, 1, events(now - HOUR))
    assert evaluate(tmp_path, catalog) == 0
    assert late_table(warehouse, STREAM).num_rows == 60


def test_a_stream_whose_events_are_new_waits(tmp_path: Path) -> None:
    make_world(tmp_path, [events(time.time_ns() // 1000)], ENTRIES, 0)
    catalog = set_idle(tmp_path, "30 minutes")
    evaluate(tmp_path, catalog)
    assert read_open_windows(str(tmp_path / "warehouse"), catalog, "n").num_rows
    assert print_stream(catalog.streams[STREAM])["idle"] == "30 minutes"


def test_a_clock_that_goes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The watermark stays; events of files that seem older than those before are taken, each once."""
    now = time.time_ns() // 1000
    make_world(tmp_path, [events(now - HOUR)], ENTRIES, 5 * SECOND)
    catalog, warehouse = set_idle(tmp_path, "30 minutes"), str(tmp_path / "warehouse")
    evaluate(tmp_path, catalog)
    ended = newest(stream_storage(warehouse, STREAM))
    monkeypatch.setattr(run_module.time, "time_ns", lambda: (now - 24 * HOUR) * 1000)
    assert evaluate(tmp_path, catalog) == 0
    assert newest(stream_storage(warehouse, STREAM)).watermark == ended.watermark
    add_batch(tmp_path, 1, events(now))
    os.utime(event_file(tmp_path, 1), (LONG_AGO - 9, LONG_AGO - 9))
    assert evaluate(tmp_path, catalog) > 0
    assert newest(stream_storage(warehouse, STREAM)).watermark == now - 5 * SECOND
    monkeypatch.setattr(run_module.time, "time_ns", lambda: (now + 24 * HOUR) * 1000)
    evaluate(tmp_path, catalog)
    assert sum(results_table(warehouse, catalog, "n")["count(1)"].to_pylist()) == 2 * 3 * 60
    assert late_table(warehouse, STREAM).num_rows == 0


@pytest.mark.parametrize("idle", ["0 seconds", "soon"])
def test_a_mistake_is_one_line(tmp_path: Path, idle: str) -> None:
    make_world(tmp_path, [], ENTRIES, 0)
    with pytest.raises(CatalogError, match="events: idle: "):
        set_idle(tmp_path, idle)
