"""Files that change under a run: written again after they were evaluated, or gone before they are read."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from jobs.results import results_table
from jobs.runs import in_process, log_batches
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from optimizer.errors import HeddleError
from tests.worlds.streams import SECOND, odd_row, table_of
from tests.worlds.warehouse import World, add_batch, make_world, query


def world_of(folder: Path) -> World:
    batches = [[odd_row((number * 10 + n) * SECOND, 1) for n in range(10)] for number in range(3)]
    return make_world(folder, batches, [query("n", "count(*)", 10 * SECOND)], 0)


def counts(world: World) -> list[int]:
    return [row["count(1)"] for row in results_table(str(world.folder / "w"), world.catalog, "n").to_pylist()]


def test_a_file_that_is_written_again(tmp_path: Path) -> None:
    """The same name and another content, even of the same size: said in one line, and not evaluated twice."""
    world = world_of(tmp_path)
    first = evaluate_local(world.catalog, world.plan("shared"), str(tmp_path / "w"))
    assert (first.events, first.notes) == (30, [])
    add_batch(tmp_path, 1, [odd_row((10 + n) * SECOND, 2) for n in range(10)])
    os.utime(world.path(1))
    add_batch(tmp_path, 3, [odd_row(40 * SECOND, 1)])
    again = evaluate_local(world.catalog, world.plan("shared"), str(tmp_path / "w"))
    assert again.events == 1
    assert [note for note in again.notes if "written again" in note] == [
        f"{world.path(1)}: written again since it was evaluated, and not read again; write events to new files"
    ]
    assert counts(world) == [10, 10, 10]
    third = evaluate_local(world.catalog, world.plan("shared"), str(tmp_path / "w"))
    assert len(third.notes) == 1


def test_a_file_that_vanishes_after_the_listing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world, listing = world_of(tmp_path), in_process.list_input_files
    monkeypatch.setattr(in_process, "list_input_files", lambda source: (listing(source), world.path(1).unlink())[0])
    report = evaluate_local(world.catalog, world.plan("shared"), str(tmp_path / "w"))
    assert report.events == 20
    assert report.notes == [f"{world.path(1)}: vanished before it was read; no answer holds its events"]
    assert counts(world) == [10]


def test_a_file_that_vanishes_before_a_batch_that_died_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run stops in one line; the next one carries on without the file, and with another as it is now."""
    world, add = world_of(tmp_path), log_batches.add_record

    def vanish(*arguments: object) -> object:
        records = add(*arguments)  # type: ignore[arg-type]  # as they come
        world.path(1).unlink()
        return records

    monkeypatch.setattr(log_batches, "add_record", vanish)
    with pytest.raises(HeddleError, match=r"part-00001.parquet: cannot be read as Parquet .*; mend or remove the file"):
        evaluate_local(world.catalog, world.plan("shared"), str(tmp_path / "w"), Options())
    monkeypatch.setattr(log_batches, "add_record", add)
    pq.write_table(table_of([odd_row((20 + n) * SECOND, 1) for n in range(20)]), world.path(2))
    report = evaluate_local(world.catalog, world.plan("shared"), str(tmp_path / "w"))
    assert report.notes == [f"{world.path(1)}: vanished before it was read; no answer holds its events"]
    assert counts(world) == [10, 10]
    assert evaluate_local(world.catalog, world.plan("shared"), str(tmp_path / "w")).notes == []
