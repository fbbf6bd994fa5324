"""Many small batches leave few files, and the same rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.engine.batch.run_batch import close, run_batch
from jobs.engine.events.file_types import file_types
from jobs.engine.events.parquet import Split
from jobs.engine.program.compile import compile_program
from jobs.engine.warehouse.lifecycle import DATA_FOLDERS, KEPT_MANIFESTS, stream_storage, sweep
from jobs.engine.warehouse.manifest import DataFile, Manifest, manifest_names
from jobs.engine.warehouse.result_files import MERGE_AT, QUERY, mergeable, row_groups_of
from jobs.engine.warehouse.state_files import MERGE_AT as MERGE_STATE_AT
from jobs.host.storage import Storage
from jobs.results import late_table, results_table
from jobs.runs.in_process import in_process
from tests.worlds.readings import SECOND, STREAM, make_world

BATCHES = 300


def test_a_million_batches_leave_a_few_files_a_level() -> None:
    files: list[DataFile] = []
    for batch in range(1_000_000 // MERGE_AT):  # the first level, sixteen at a time
        files += [DataFile(f"{batch}", 0, MERGE_AT, batch, "k", 1)]
        for group in mergeable(files):
            merged = DataFile("", 0, sum(file.rows for file in group), batch, "k", group[0].tier + 1)
            files = [file for file in files if file not in group] + [merged]
    assert sum(file.rows for file in files) == 1_000_000 // MERGE_AT * MERGE_AT
    assert len(files) <= 5 * MERGE_AT


def test_small_batches(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    for number in range(BATCHES):
        times = pa.array([number * 5 * SECOND, max(0, number - 60) * 5 * SECOND]).cast(pa.timestamp("us", "UTC"))
        table = pa.table({"ts": times, "k": ["a", None], "x": [float(number), 0.1]})
        pq.write_table(table, tmp_path / "data" / f"{number:06d}.parquet")
    paths = sorted((tmp_path / "data").iterdir())
    program = compile_program(world.catalog, world.plan, file_types(world.catalog, world.plan, str(paths[0])))
    storage = stream_storage(world.warehouse("many"), STREAM)
    manifest = replace(Manifest(), buckets=1)
    for batch, path in enumerate(paths):
        manifest = run_batch(storage, manifest, program, batch, in_process([Split(str(path), 1)]))
        assert len(manifest.state) <= 4 * MERGE_STATE_AT
    manifest = close(storage, manifest, program, in_process([]))
    sweep(storage, manifest)

    levels = 3  # 300 batches: 16, 256, 4096
    assert len(manifest.results) <= 2 * levels * MERGE_AT  # two groupings
    assert len(manifest.late) <= levels * MERGE_AT
    assert max(file.tier for file in manifest.results) == max(file.tier for file in manifest.late) == 2
    assert len(manifest_names(storage)) == KEPT_MANIFESTS
    assert_few_row_groups(storage, manifest)
    on_disk = sum(1 for folder in DATA_FOLDERS for _ in storage.names(folder))
    assert on_disk <= len(manifest.files()) + KEPT_MANIFESTS * (MERGE_AT + 4)

    newest = results_table(world.warehouse("many"), world.catalog, "newest").flatten()
    assert newest.num_rows == len(newest.group_by(["k", "window.start"]).aggregate([]))
    # the last event is at 1495 s, less 2 s of lateness: 49 windows of a, and the one that null is not late for
    assert newest.num_rows == 50
    late = late_table(world.warehouse("many"), STREAM)
    assert late.num_rows == sum(file.rows for file in manifest.late) == BATCHES - 3
    assert set(late.column_names) == {"ts", "k", "x", "windows_missed", "batch", "watermark"}


def assert_few_row_groups(storage: Storage, manifest: Manifest) -> None:
    """A file holds its rows in one group, however many files it was merged from, and says whose they are."""
    for file in manifest.results:
        with pq.ParquetFile(storage.path(file.name)) as parquet:
            assert parquet.num_row_groups == 1
            held = set(parquet.read([QUERY])[QUERY].to_pylist())
            assert all(row_groups_of(parquet, [label]) == [0] for label in held)
            assert not row_groups_of(parquet, ["another"])
