"""Sinks have the newest revision of every row, whatever is killed and in whatever order batches are published."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from jobs.engine.warehouse.ledger import newest_ledger, release, require_audit, settle
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.results import results_table
from jobs.sinks import parquet
from jobs.sinks.deliver import deliver
from tests.jobs.sinks.test_sinks import EVERY, Killed, kill_at
from tests.worlds.sinks import PLACES, QUERIES, arrive, assert_delivered, evaluate, make_sinks_world, set_stream
from tests.worlds.warehouse import STREAM

__all__ = ["kill_at"]


@pytest.mark.parametrize("format", EVERY)
def test_corrected_rows_take_the_place_of_those_before(
    tmp_path: Path, format: str, kill_at: Callable[[str], None]
) -> None:
    """Also rows that pass their condition no more; a sink that joins later gets the newest."""
    queries = [entry for entry in QUERIES if entry["id"] in ("total", "both", "texts")]
    make_sinks_world(tmp_path, (format,), queries)
    catalog = set_stream(tmp_path, corrections="2 minutes")
    revised = 0
    for number, name in enumerate(("", "sink written", "sink committed", "delivered")):
        arrive(tmp_path, 2 * number, 2 * number + 1)
        warehouse = evaluate(tmp_path, catalog)
        revised += sum(file.rows for file in newest(stream_storage(warehouse, STREAM)).results if file.revised)
        if name:
            kill_at(name)
            with pytest.raises(Killed):
                deliver(catalog, STREAM, warehouse, pytest.fail)
        deliver(catalog, STREAM, warehouse, pytest.fail)
        assert_delivered(tmp_path, catalog, format)
    assert revised
    other = "sql" if format == "parquet" else "parquet"
    later = set_stream(tmp_path, sinks={**_sinks(tmp_path, format), **_sinks(tmp_path, other)})
    deliver(later, STREAM, warehouse, pytest.fail)
    assert_delivered(tmp_path, later, other)


@pytest.mark.parametrize("killed_at", range(4))
def test_a_reader_of_files_meets_each_row_as_it_was_or_as_it_is_corrected(
    tmp_path: Path, killed_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every step of a delivery, by the folder and by the manifests, also where it dies and is run again."""
    make_sinks_world(tmp_path, ("parquet",), QUERIES[:1])
    catalog = set_stream(tmp_path, corrections="2 minutes")
    steps = []
    for number in range(3):
        arrive(tmp_path, number)
        deliver(catalog, STREAM, evaluate(tmp_path, catalog), pytest.fail)
    before = _rows_by_key(results_table(str(tmp_path / "warehouse"), catalog, "total"))
    arrive(tmp_path, 3)
    warehouse = evaluate(tmp_path, catalog)
    after = _rows_by_key(results_table(warehouse, catalog, "total"))
    assert any(after[key] != row for key, row in before.items())

    def look(name: str) -> None:
        steps.append(name)
        in_folder = pq.read_table(tmp_path / "files" / "total", partitioning=None)
        named = [json.loads(file.read_text()) for file in (tmp_path / "files" / "_manifests" / STREAM).iterdir()]
        by_manifest = pa.concat_tables([pq.read_table(tmp_path / "files" / one["tables"]["total"]["file"])
                                        for one in named if "total" in one["tables"]])  # fmt: skip
        for rows in map(_rows_by_key, (in_folder, by_manifest)):
            assert rows.keys() >= before.keys()
            assert all(row in (before.get(key), after[key]) for key, row in rows.items())
        if len(steps) == killed_at:
            raise Killed

    monkeypatch.setattr(parquet, "step", look)
    for _ in range(2 if killed_at else 1):
        with pytest.raises(Killed) if killed_at and not steps else nullcontext():
            deliver(catalog, STREAM, warehouse, pytest.fail)
    assert len(steps) >= 4
    assert_delivered(tmp_path, catalog, "parquet")


def _rows_by_key(table: pa.Table) -> dict[str, str]:
    """Rows as texts by their keys, each of which is there once."""
    rows = {repr((row["k"], row["window"])): repr(row["sum(n)"]) for row in table.to_pylist()}
    assert len(rows) == table.num_rows
    return rows


def _sinks(folder: Path, format: str) -> dict[str, dict[str, str]]:
    return {format: {"format": format} | {field: str(folder / name) for field, name in PLACES[format].items()}}


def test_a_batch_that_is_released_late_leaves_newer_revisions_as_they_are(tmp_path: Path) -> None:
    """Batches that wait are corrected by one that is published at once; released, they come after their corrections."""
    queries = [entry for entry in QUERIES if entry["id"] in ("total", "both", "texts")]
    make_sinks_world(tmp_path, EVERY, queries)
    catalog = set_stream(tmp_path, corrections="2 minutes")
    storage = stream_storage(str(tmp_path / "warehouse"), STREAM)
    require_audit(storage)
    for number, passed in enumerate((True, False, False, True)):
        arrive(tmp_path, number)
        evaluate(tmp_path, catalog)
        settle(storage, newest_ledger(storage), newest(storage), passed)
    deliver(catalog, STREAM, str(tmp_path / "warehouse"), pytest.fail)
    for batch in (2, 1):
        release(storage, batch)
        deliver(catalog, STREAM, str(tmp_path / "warehouse"), pytest.fail)
        for format in EVERY:
            assert_delivered(tmp_path, catalog, format)
    history = results_table(str(tmp_path / "warehouse"), catalog, "total", revisions=True)
    assert pc.max(history["revision"]).as_py() >= 1
