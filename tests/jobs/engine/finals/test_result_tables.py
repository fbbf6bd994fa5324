"""Result tables: the same rows whether keys are many or few, and no row group carries keys of another."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.engine.finals import answers as module
from jobs.engine.finals.answers import Answer, result_tables
from jobs.engine.program.program import Grouping, QueryProgram
from jobs.engine.warehouse.result_files import FOLDER, QUERY, START, row_groups_of, write_results
from jobs.host.storage import Storage
from optimizer.windows.window import Window

GROUPING = Grouping(("k", "n"), (pa.string(), pa.int64()), ())


def answer(label: str, keys: int, windows: int) -> Answer:
    query = QueryProgram(label, Window(10, 10), "max", (), "", "", pa.float64(), label)
    group = np.repeat(np.arange(keys), windows)
    return Answer(query, group, np.tile(np.arange(windows), keys), pa.array(group + 0.5))


def tree(keys: int, windows: int, *labels: str) -> tuple[pa.Table, list[Answer]]:
    names = [f"key {number}" if number % 7 else None for number in range(keys)]
    table = pa.table({"key k": pa.array(names, pa.string()), "key n": pa.array(range(keys), pa.int64())})
    return table, [answer(label, keys, windows) for label in labels]


def expected_rows(trees: list[tuple[pa.Table, list[Answer]]]) -> list[tuple[object, ...]]:
    return [
        (answer.query.label, keys["key k"][group].as_py(), keys["key n"][group].as_py(), start, value)
        for keys, answers in trees
        for answer in answers
        for group, start, value in zip(
            answer.group.tolist(), answer.start.tolist(), answer.value.to_pylist(), strict=True
        )
    ]


@pytest.mark.parametrize(("keys", "windows"), [(1, 1), (1, 90), (40, 1), (40, 3), (40, 4), (9, 30), (300, 5)])
def test_rows_and_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: int, windows: int) -> None:
    monkeypatch.setattr(module, "ROW_GROUP", 64)
    storage = Storage(str(tmp_path))
    storage.make_folder(FOLDER)
    trees = [tree(keys, windows, "a", "b"), tree(keys // 2, windows, "c")]
    file = write_results(storage, 0, 0, "k,n", result_tables(GROUPING, trees))
    with pq.ParquetFile(storage.path(file.name)) as reader:
        table = reader.read()
        sizes = [reader.metadata.row_group(group).num_rows for group in range(reader.num_row_groups)]
        parts = [set(reader.read_row_group(group, [QUERY])[QUERY].to_pylist()) for group in range(len(sizes))]
        for label in "abc":
            assert set(row_groups_of(reader, [label])) >= {
                group for group, labels in enumerate(parts) if label in labels
            }
    columns = [table[name].to_pylist() for name in (QUERY, "key k", "key n")]
    rows = zip(*columns, table[START].cast(pa.int64()).to_pylist(), table["value double"].to_pylist(), strict=True)
    assert list(rows) == expected_rows(trees)
    assert max(sizes) <= 64
    assert all(first + second > 64 for first, second in pairwise(sizes)) or keys * windows <= 64


def test_a_row_group_has_the_dictionary_of_its_own_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROW_GROUP", 64)
    tables = result_tables(GROUPING, [tree(1000, 8, "a")])
    assert len(tables) == 125
    assert {len(table["key n"].chunk(0).dictionary) for table in tables} == {8}


def test_keys_with_a_row_each_are_written_without_a_dictionary() -> None:
    (table,) = result_tables(GROUPING, [tree(1000, 1, "a", "b")])
    assert table["key k"].type == pa.string()
    (table,) = result_tables(GROUPING, [tree(10, 100, "a", "b")])
    assert pa.types.is_dictionary(table["key k"].type)
