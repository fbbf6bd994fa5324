"""What an audit samples: statements take turns, and those of one grouping are asked for in one scan."""

from __future__ import annotations

import pyarrow as pa

from expectations.sample import Part, Scope, sample_starts, sample_statements
from expectations.sides.plain_spark import AT_ONCE, sample_sql, scans
from jobs.engine.warehouse.statements import EvaluatedStatement
from optimizer.catalog.model.query import Query, Statement, Stream
from optimizer.windows.window import Window


def statement(id: str, key: str = "k", where: str = "") -> EvaluatedStatement:
    query = Query(id, "s", "sum", ("x",), Window(4, 2), where, (key,), id)
    return EvaluatedStatement(Statement(id, "SELECT 1", ()), {id: query}, {id: pa.int64()}, {key: pa.string()})


def part(id: str, key: str = "k", barrier: int | None = None, where: str = "") -> Part:
    return Part(statement(id, key, where), 0, 10, barrier, (2, 6))


def test_the_statements_whose_audit_is_the_longest_ago_come_first() -> None:
    statements = [statement(f"q{number}") for number in range(6)]
    audited = {"q0": 9, "q1": 8, "q2": 3, "q3": 7}
    scope = Scope(0, 10, seed=1, statements=3, audited=audited)
    assert [each.statement.id for each in sample_statements(statements, scope)] == ["q2", "q4", "q5"]


def test_a_brief_sample_takes_fewer_of_long_windows() -> None:
    starts = range(0, 42, 2)
    assert len(sample_starts(starts, statement("a"), Scope(0, 10, windows=15))) == 15
    assert len(sample_starts(starts, statement("a"), Scope(0, 10, windows=15, brief=True))) == 10


def test_a_scan_has_one_grouping_and_one_set_of_late_events() -> None:
    parts = [part("a"), part("b", "j"), part("c"), part("d", barrier=5)]
    assert [[each.statement.statement.id for each in scan] for scan in scans(parts)] == [["a", "c"], ["b"], ["d"]]
    many = [part(f"q{number}") for number in range(AT_ONCE + 1)]
    assert [len(scan) for scan in scans(many)] == [AT_ONCE, 1]


def test_an_argument_is_evaluated_for_events_of_its_own_statement_only() -> None:
    sql = sample_sql([part("a"), part("b", where="x <> 0")], Stream("s", "ts", 0))
    assert "sum((CASE WHEN `heddle statement` = 1 THEN x END))" in sql
    assert "WHEN 1 THEN x <> 0 END" in sql
    assert "(0, 2L, 6L), (0, 6L, 10L), (1, 2L, 6L), (1, 6L, 10L)" in sql
