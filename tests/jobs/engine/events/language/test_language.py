"""Every operator and function of the language, by generation: Spark's types, bits and refusals."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from jobs.engine.events.expressions import NotExact, RefusedRow, compile_expression, evaluate
from jobs.engine.events.language import texts
from jobs.engine.events.language.functions import FUNCTIONS, LEFT_TO_SPARK
from optimizer.catalog.sql.expressions import expression
from optimizer.catalog.sql.grammar import FUNCTIONS as ALLOWED
from tests.jobs.engine.events.language.against_spark import compare
from tests.jobs.engine.events.language.writer import Writer, odd_rows

CASES = 520


def test_random_expressions(spark: SparkSession) -> None:
    writer = Writer(16)
    outcome = compare(spark, odd_rows(40), [writer.expression() for _ in range(CASES)], refusals=12)
    assert not outcome.differences
    assert outcome.evaluated > 0.9 * CASES
    assert outcome.refusals == 12


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Sao_Paulo"])
def test_clocks_of_a_zone(spark: SparkSession, zone: str) -> None:
    writer = Writer(17)
    outcome = compare(spark, odd_rows(40), [writer.clock_expression() for _ in range(60)], refusals=0, zone=zone)
    assert not outcome.differences
    assert outcome.evaluated > 40


def test_numbers_that_are_computed_are_no_literals(spark: SparkSession) -> None:
    """Beside a decimal, a literal has the type of its digits, any other constant that of its own kind."""
    divided = "pmod(0.01 + 0.01, 12.345 / q) <= "
    texts = [f"{divided}{zero}" for zero in ("0", "1 * 0", "CAST(0 AS INT)", "CAST(FALSE AS INT) * ceil(2.5F)")]
    texts += ["p * 2", "p * -2", "p * -(2)", "p + (1 + 1)", "p DIV CAST(3 AS BIGINT)", "greatest(p, 1 + 1)"]
    # a whole number is never 1.5, so that Spark does not look at it
    texts += [f"(i % 0) {comparison} 1.5" for comparison in ("<=>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")]
    outcome = compare(spark, odd_rows(48, 2), [*texts, "1.5 <=> (i % 0)", "(i % 0) <=> 3.0", "i <=> 1.5"])
    assert not outcome.differences
    assert outcome.evaluated > 10


def test_what_spark_does_not_compute_cannot_fail(spark: SparkSession) -> None:
    """A whole number out of range, the other side of null, and conditions on which nothing depends."""
    texts = [f"CAST(x AS INT) {comparison} 3000000000" for comparison in ("<=>", "IS DISTINCT FROM")]
    texts += ["(i % 0) = CAST(NULL AS INT)", "(i % 0) < NULL", "(i % 0) + CAST(NULL AS INT)", "NULL <> (1 / i)"]
    texts += ["CASE WHEN i / 0 > 1 THEN 2 ELSE 2 END", "if(i % 0 = 1, NULL, NULL)", "if(i % 0 = 1, i + 1, i + 1)"]
    texts += ["CASE WHEN i % 0 = 1 THEN 3 WHEN i % 0 = 2 THEN 2 ELSE 2 END", "CASE WHEN i % 0 = 1 THEN NULL END"]
    outcome = compare(spark, odd_rows(48, 2), [*texts, "CAST(x AS INT) <=> 3", "if(i > 1, i, i)"])
    assert not outcome.differences
    assert outcome.evaluated + len(outcome.left_to_spark) == len(texts) + 2


def test_case_of_letters(spark: SparkSession) -> None:
    letters = [chr(code) for code in range(1, 0x1F000) if not 0xD800 <= code < 0xE000 and chr(code).isprintable()]
    newer = [chr(code) for pair in texts.CAPITAL_TO_SMALL.items() for code in pair]
    table = pa.table({"s": [*letters, *newer]})
    answers = spark.createDataFrame(table).selectExpr("upper(s) AS u", "lower(s) AS l").toArrow()
    for sql, name in (("upper(s)", "u"), ("lower(s)", "l")):
        assert evaluate(sql, {"s": table["s"]}).equals(answers[name].combine_chunks())


def test_every_allowed_function_has_its_line() -> None:
    assert sorted(FUNCTIONS) == sorted(ALLOWED)


def columns(**values: list[float | None]) -> dict[str, pa.Array]:
    return {name: pa.array(column) for name, column in values.items()}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("CASE WHEN n <> 0 THEN 10 / n ELSE -1 END", [-1.0, 5.0, None]),
        ("n <> 0 AND 10 / n > 3", [False, True, None]),
        ("n = 0 OR 10 / n > 3", [True, True, None]),
        ("if(n = 0, 0, 10 DIV n)", [0, 5, None]),
        ("coalesce(n, 1 / 0)", None),
        ("nullif(n, 0) % 2", [None, 0, None]),
        ("10 / nullif(n, 0)", [None, 5.0, None]),
    ],
)
def test_a_row_is_refused_only_where_spark_looks_at_it(sql: str, expected: list[float | None] | None) -> None:
    if expected is None:  # a constant that fails is Spark's own matter
        with pytest.raises(NotExact, match="division by zero"):
            evaluate(sql, columns(n=[0, 2, None]))
        return
    values = evaluate(expression(sql), columns(n=[0, 2, None])).to_pylist()
    assert values[:2] == expected[:2]


def test_other_rows_may_be_refused() -> None:
    divisors = columns(n=[0, 2, 0])
    with pytest.raises(RefusedRow, match="division by zero"):
        evaluate("1 / n", divisors)
    assert evaluate("1 / n", divisors, np.array([False, True, False])).to_pylist() == [None, 0.5, None]


@pytest.mark.parametrize("sql", ["sin(x) > 0", "floor(tan(x))", "sin(x) + 1", "round(cos(x), 3)", "1 / sin(x)"])
def test_an_open_digit_decides_nothing(sql: str) -> None:
    with pytest.raises(NotExact):
        compile_expression(expression(sql), columns(x=[0.5]))
    assert compile_expression("2 * abs(sin(x)) / 3", columns(x=[0.5])).is_open


@pytest.mark.parametrize("sql", LEFT_TO_SPARK)
def test_what_the_page_says_is_left_to_spark(sql: str) -> None:
    kinds = {"x": pa.float64(), "n": pa.int64(), "s": pa.string(), "other": pa.string(), "price": pa.decimal128(9, 2)}
    types = {name: pa.array([], kind) for name, kind in kinds.items()} | {"ts": pa.array([], pa.timestamp("us", "UTC"))}
    with pytest.raises(NotExact):
        compile_expression(expression(sql), types)


def test_literals_are_folded() -> None:
    node = compile_expression(expression("n * (0.5D + cast('2' AS INT))"), columns(n=[1, 2]))
    assert [part.is_constant for part in node.parts] == [False, True]
