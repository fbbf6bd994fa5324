"""Answers over a table in memory: those of a batch, with every window closed, and nothing written."""

from __future__ import annotations

from pathlib import Path

from jobs.engine.batch.in_memory import answer_open_windows, answer_table, by_label, statement_rows
from jobs.engine.events.file_types import file_types
from jobs.engine.program.compile import compile_program
from jobs.engine.program.queries import label_of
from jobs.engine.warehouse.manifest import newest
from jobs.engine.warehouse.read_answers import answer_column
from jobs.engine.warehouse.result_files import START
from jobs.engine.warehouse.statements import evaluated_statement
from optimizer.plan.definition import Plan
from tests.jobs.engine.finals.partials import event
from tests.worlds.audited import make_world as make_audited
from tests.worlds.streams import SECOND, table_of
from tests.worlds.warehouse import STREAM, make_world, query

EVENTS = [event(second, key, second) for second in range(7) for key in ("b", "a")]
QUERIES = [
    query("total", "sum(n)", 4 * SECOND, group_by=["k"]),
    query("most", "max(n)", 4 * SECOND, group_by=["k"], where="n < 2"),
    {"id": "lately", "stream": STREAM, "select": "sum(n)", "range": "3 rows", "slide": "2 rows", "group_by": ["k"]},
]
FIRST_ROWS = {-2: 0, 0: 3, 2: 9, 4: 15}  # of every key: the sum of the rows from a number on


def test_every_window_is_closed(tmp_path: Path) -> None:
    """Rows are in the order of window and key; a query whose predicate nothing passes has no row."""
    world = make_world(tmp_path, [EVENTS], QUERIES, 0)
    program = world.program(world.plan("shared"))
    answered = by_label(answer_table(program, table_of(EVENTS)))
    rows = {}
    for id in ("total", "most", "lately"):
        statement = evaluated_statement(world.catalog, id, {sql: str(kind) for sql, kind in program.types.items()})
        assert statement is not None
        table = statement_rows(statement, answered, {})
        rows[id] = list(
            zip(
                table["key k"].to_pylist(),
                [start.value // SECOND if id != "lately" else start.value for start in table[START].combine_chunks()],
                table[answer_column(id)].to_pylist(),
                strict=True,
            )
        )
    assert rows["total"] == [("a", 0, 6), ("b", 0, 6), ("a", 4, 15), ("b", 4, 15)]
    assert rows["most"] == [("a", 0, 1), ("b", 0, 1)]
    assert sorted(rows["lately"]) == sorted((key, first, total) for key in "ab" for first, total in FIRST_ROWS.items())


def test_without_events_there_are_no_answers(tmp_path: Path) -> None:
    world = make_world(tmp_path, [EVENTS], QUERIES, 0)
    program = world.program(world.plan("shared"))
    assert list(answer_table(program, table_of(EVENTS).slice(0, 0))) == []


def test_open_windows_go_on_where_the_batch_stopped(tmp_path: Path) -> None:
    """None of them has been emitted, and all hold an event."""
    world = make_audited(tmp_path)
    world.arrive(0, 0, late=False)
    world.evaluate()
    manifest = newest(world.storage)
    (plan_file,) = (Path(world.storage.root) / "plans").glob("*.json")
    plan = Plan.from_json(plan_file.read_text())
    program = compile_program(world.catalog, plan, file_types(world.catalog, plan, str(world.path(0))))
    label = label_of(world.catalog.query("total"))
    buckets = list(answer_open_windows(program, world.storage, manifest))
    answers = [keyed.answer for bucket in buckets for keyed in bucket if keyed.answer.query.label == label]
    starts = {int(start) for answer in answers for start in answer.start}
    assert starts
    assert all(manifest.watermark < start + 6 * SECOND for start in starts)
    assert all(start <= manifest.latest for start in starts)
