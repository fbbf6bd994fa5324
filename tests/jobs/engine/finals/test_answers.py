"""From slices to answers: folded by a technique or by a grid, finished as Spark does, laid out by row group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from jobs.engine.finals.answers import Answer, answers, result_tables
from jobs.engine.finals.fold import Finals
from jobs.engine.finals.gather import gather
from jobs.engine.program.program import key_column
from jobs.engine.warehouse.result_files import QUERY, START
from jobs.engine.warehouse.state_files import StateFiles
from jobs.host.storage import Storage
from optimizer.windows.window import BEGINNING
from tests.jobs.engine.finals.partials import event, only_root, partials_of
from tests.worlds.streams import SECOND, ticks
from tests.worlds.warehouse import query

EVENTS = [event(0, "a", 3), event(1, "a", None), event(2, "b", 5), event(3, "a", 4), event(9, "b", 1)]
QUERIES = [
    query("total", "sum(n)", 4 * SECOND, 2 * SECOND, group_by=["k"]),
    query("mean", "avg(n)", 4 * SECOND, 2 * SECOND, group_by=["k"]),
    query("top", "max_by(s, n)", 4 * SECOND, 2 * SECOND, group_by=["k"]),
    query("large", "count(*)", 4 * SECOND, 2 * SECOND, group_by=["k"], where="n > 3"),
]
EXPECTED = {
    "total": {("a", -2): 3, ("a", 0): 7, ("a", 2): 4, ("b", 0): 5, ("b", 2): 5},
    "mean": {("a", -2): 3.0, ("a", 0): 3.5, ("a", 2): 4.0, ("b", 0): 5.0, ("b", 2): 5.0},
    "top": {("a", -2): "at 0", ("a", 0): "at 3", ("a", 2): "at 3", ("b", 0): "at 2", ("b", 2): "at 2"},
    "large": {("a", 0): 1, ("a", 2): 1, ("b", 0): 1, ("b", 2): 1},
}
NOTHING_RETAINED = StateFiles(Storage(""), [])


def finals_of(folder: Path, technique: str) -> tuple[Finals, pa.Table, Any]:
    """The finals of the windows that end up to second 6."""
    program, incoming = partials_of(folder, EVENTS, QUERIES, technique)
    grouping, tree = only_root(program)
    clock = (BEGINNING, 6 * SECOND)
    gathered = gather(grouping, tree, {}, NOTHING_RETAINED, incoming, clock)
    assert gathered is not None
    assert gathered.slices is not None
    return Finals(gathered.slices, tree, *clock, gathered.bounds), gathered.slices.keys, grouping


def places(answer: Answer, keys: pa.Table) -> dict[tuple[str, int], Any]:
    names = keys["key k"].to_pylist()
    rows = zip(answer.group, answer.start, answer.value.to_pylist(), strict=True)
    return {(names[group], int(start) // SECOND): value for group, start, value in rows}


@pytest.mark.parametrize("technique", ["two_stacks_block", "two_stacks", "panes"])
def test_answers(tmp_path: Path, technique: str) -> None:
    finals, keys, _ = finals_of(tmp_path, technique)
    assert {answer.query.id: places(answer, keys) for answer in answers(finals)} == EXPECTED
    assert sum(finals.operations.values()) > 0


def test_result_tables(tmp_path: Path) -> None:
    finals, keys, grouping = finals_of(tmp_path, "two_stacks_block")
    (table,) = result_tables(grouping, [(keys, list(answers(finals)))])
    rows = {
        (row[QUERY].partition("@")[0], row[key_column("k")], ticks(row[START]) // SECOND): [
            value for name, value in row.items() if name.startswith("value") and value is not None
        ]
        for row in table.to_pylist()
    }
    assert rows == {(id, *place): [value] for id, of_query in EXPECTED.items() for place, value in of_query.items()}
    assert not table.schema.field(START).nullable, "a column without null says so"
    assert table.schema.field("value double").nullable
