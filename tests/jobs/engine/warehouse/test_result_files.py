"""Result files: a reader passes over row groups without its queries, and a merged file is by query."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.engine.program.program import key_column
from jobs.engine.program.spark_types import INSTANT
from jobs.engine.warehouse.result_files import (
    FOLDER,
    QUERY,
    START,
    merge_files,
    row_groups_of,
    value_column,
    write_results,
)
from jobs.host.storage import Storage


def answers(label: str, key: str, value: pa.Array) -> pa.Table:
    """The answers of one query to one key."""
    rows = len(value)
    return pa.table(
        {
            QUERY: pa.repeat(label, rows).dictionary_encode(),
            key_column("k"): pa.repeat(key, rows),
            START: pa.array(range(rows)).cast(INSTANT),
            value_column(value.type): value,
        }
    )


def test_row_groups_by_query(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path))
    storage.make_folder(FOLDER)
    sums, counts = answers("sum@1", "a", pa.array([1.5, None])), answers("more@2", "b", pa.array([2.5]))
    file = write_results(storage, 7, 1, "k", [sums, counts])
    assert (file.bucket, file.rows, file.batch, file.grouping, file.tier) == (1, 3, 7, "k", 0)
    with pq.ParquetFile(storage.path(file.name)) as reader:
        assert [row_groups_of(reader, [label]) for label in ("sum@1", "more@2", "none@3")] == [[0], [1], []]


def test_a_merged_file_holds_all_rows(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path))
    storage.make_folder(FOLDER)
    files = [
        write_results(storage, 0, 0, "k", [answers("b@1", "x", pa.array([1.5]))]),
        write_results(storage, 1, 0, "k", [answers("a@2", "y", pa.array([2]))]),
        write_results(storage, 2, 0, "k", [answers("b@1", "z", pa.array([3.5]))]),
    ]
    merged = merge_files(storage, FOLDER, 3, files)
    assert (merged.rows, merged.tier, merged.batch) == (3, 1, 3)
    rows = pq.read_table(storage.path(merged.name)).to_pylist()
    assert sorted((row[QUERY], row["key k"], row["value double"], row["value int64"]) for row in rows) == [
        ("a@2", "y", None, 2),
        ("b@1", "x", 1.5, None),
        ("b@1", "z", 3.5, None),
    ]
    labels = [row[QUERY] for row in rows]
    assert labels in (["b@1", "b@1", "a@2"], ["a@2", "b@1", "b@1"]), "the answers of a query stand together"
