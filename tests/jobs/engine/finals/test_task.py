"""The task of a bucket: parcels in; result files, state files and counts out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.engine.finals.answers import Answer
from jobs.engine.finals.task import labelled_levels, run_bucket, without_early_windows
from jobs.engine.program.program import Program
from jobs.engine.slices.exchange import pack
from jobs.engine.warehouse import result_files, state_files
from jobs.engine.warehouse.result_files import START, read_values
from jobs.engine.warehouse.state_files import StateFiles
from jobs.engine.work import BucketReport, Work
from jobs.host.storage import Storage
from optimizer.windows.window import BEGINNING
from tests.jobs.engine.finals.partials import event, partials_of
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import query

QUERY = query("total", "sum(n)", 4 * SECOND, 2 * SECOND)


@pytest.fixture
def program(tmp_path: Path) -> tuple[Program, list[bytes]]:
    """The program, and what a feed task sends to its only bucket."""
    program, incoming = partials_of(tmp_path, [event(second, "a", second) for second in range(10)], [QUERY])
    storage = Storage(str(tmp_path / "w"))
    for folder in (result_files.FOLDER, state_files.FOLDER):
        storage.make_folder(folder)
    return program, [pack({name: tables[0] for name, tables in incoming.items()})]


def totals(storage: Storage, report: BucketReport) -> dict[int, int]:
    """The answers of a task's only result file, by the second that the window starts at."""
    (file,) = report.results
    table = pq.read_table(storage.path(file.name))
    starts = table[START].cast(pa.int64()).to_pylist()
    return dict(zip((start // SECOND for start in starts), read_values(table, pa.int64()).to_pylist(), strict=True))


def test_windows_end_once(tmp_path: Path, program: tuple[Program, list[bytes]]) -> None:
    """What a batch retains answers the windows of the next one, which has no events of its own."""
    compiled, parcels = program
    storage = Storage(str(tmp_path / "w"))
    first = run_bucket(compiled, Work(storage.root, 0, BEGINNING, 6 * SECOND, 1), 0, parcels)
    assert totals(storage, first) == {-2: 1, 0: 6, 2: 14}
    assert first.state
    work = Work(storage.root, 1, 6 * SECOND, 10 * SECOND, 1, state=tuple(first.state))
    assert totals(storage, run_bucket(compiled, work, 0, [])) == {4: 22, 6: 30}
    assert labelled_levels(compiled).keys() >= {
        name for file in first.state for name in StateFiles(storage, [file]).tables(file)
    }


def test_a_query_that_joined_later_has_no_windows_from_before(program: tuple[Program, list[bytes]]) -> None:
    compiled, _ = program
    (tree,) = compiled.groupings[0].trees
    answer = Answer(tree.queries[0], np.zeros(3, np.int64), np.array([0, 2, 4]) * SECOND, pa.array([1, 2, 3]))
    work = Work("w", 1, 0, 10 * SECOND, 1)
    assert without_early_windows(answer, work) is answer
    joined = replace(work, joined={answer.query.label: 6 * SECOND})
    assert without_early_windows(answer, joined).value.to_pylist() == [3], "windows that end after second 6"
