"""A few whole cases against plain Spark at every run of the tests; and that a wrong row is found and made small."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.fuzz.__main__ import write_whole_case
from tests.fuzz.against_spark import Expected, Wrong, check_case, compare_rows
from tests.fuzz.draw_case import draw_case
from tests.fuzz.shrink import shrink_case
from tests.fuzz.whole_case import WholeCase

SEEDS = (1003, 1004, 1001)  # in one process, in the file lane and in the frame lane


def test_cases(spark: SparkSession) -> None:
    assert sum(check_case(spark, draw_case(seed)).rows for seed in SEEDS) > 100


def test_a_wrong_row_is_found() -> None:
    statement = next(iter(draw_case(1).statements.values()))
    values = tuple(1 for _ in statement.aggregates)
    expected = Expected([], {(5,): values}, {(5,): {}})
    compare_rows("q0", statement, {(5,): values}, expected)
    for rows in ({}, {(5,): values, (6,): values}, {(5,): tuple(2 for _ in values)}):
        with pytest.raises(Wrong):
            compare_rows("q0", statement, rows, expected)


def test_a_case_is_made_small(tmp_path: Path) -> None:
    def has_a_null(case: WholeCase) -> bool:
        return any(row["x"] is None for rows in case.batches for row in rows)

    case = next(case for case in map(draw_case, range(100)) if has_a_null(case) and len(case.batches) > 1)
    small = shrink_case(case, has_a_null)
    assert [len(rows) for rows in small.batches] == [1]
    assert len(small.statements) == 1
    write_whole_case(small, tmp_path / "case")
    assert "heddle check" in (tmp_path / "case" / "README").read_text()
