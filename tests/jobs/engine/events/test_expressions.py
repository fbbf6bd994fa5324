"""Expressions on Arrow columns give Spark's values and types, or say that they would not."""

from __future__ import annotations

import math
import random
from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from jobs.engine.events.expressions import NotExact, evaluate, evaluate_some
from optimizer.catalog.spark_types.parquet import spark_type
from optimizer.catalog.sql.expressions import expression
from tests.jobs.engine.oracle_expressions import EVERYTHING, PREDICATES
from tests.oracle.naive_aggregates import same
from tests.worlds.streams import odd_row, table_of, ticks

COLUMNS: dict[str, list[Any]] = {
    "a": [None, -4, 0, 3, 7],
    "i": [None, -3, 0, 1, 2],
    "n": [None, -9, 0, 5, 1 << 40],
    "x": [None, math.nan, math.inf, -math.inf, 0.0, -0.0, 1.5, 0.1],
    "y": [None, math.nan, 1.5, 2.0, -0.0, 1e300],
    "f": [None, math.nan, 0.1, 1.5],
    "s": [None, "", "a", "b", "é", "A"],
    "t": [None, "a", "b", "\U0001f600", "\uffee"],
    "d": [None, date(1969, 12, 30), date(2024, 2, 29)],
    "e": [None, date(1969, 12, 30), date(2024, 3, 1)],
    "b": [None, True, False],
    "c": [None, True, False],
}
SCHEMA = pa.schema(
    [
        ("a", pa.int8()),
        ("i", pa.int32()),
        ("n", pa.int64()),
        ("x", pa.float64()),
        ("y", pa.float64()),
        ("f", pa.float32()),
        ("s", pa.string()),
        ("t", pa.string()),
        ("d", pa.date32()),
        ("e", pa.date32()),
        ("b", pa.bool_()),
        ("c", pa.bool_()),
    ]
)
COMPARISONS = ["=", "<>", "<", "<=", ">", ">="]


class Writer:
    """Writes random expressions."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def number(self, depth: int) -> str:
        """A number of any type."""
        shape = self.pick.randrange(9 if depth else 4)
        if shape < 2:
            return self.pick.choice(["a", "i", "n", "x", "x", "y", "y", "f"])
        if shape < 4:
            return self.pick.choice(["2", "0", "3000000000", "0.1", "1.5", "1e3"])
        if shape == 4:
            return f"-({self.number(depth - 1)})"
        if shape == 5:
            return f"abs({self.number(depth - 1)})"
        if shape == 6:
            return f"cast({self.number(depth - 1)} AS DOUBLE)"
        return f"({self.number(depth - 1)} {self.pick.choice('+-*')} {self.number(depth - 1)})"

    def truth(self, depth: int) -> str:
        """A condition."""
        shape = self.pick.randrange(9 if depth else 3)
        if shape == 0:
            return self.pick.choice(["b", "c", "TRUE", "FALSE"])
        if shape < 3:
            return f"{self.number(depth)} {self.pick.choice(COMPARISONS)} {self.number(depth)}"
        if shape == 3:
            pair = self.pick.choice([("s", "t"), ("d", "e"), ("b", "c"), ("s", "'a'")])
            return f"{pair[0]} {self.pick.choice(COMPARISONS)} {pair[1]}"
        if shape == 4:
            return f"NOT ({self.truth(depth - 1)})"
        if shape == 5:
            return f"{self.pick.choice(list(COLUMNS))} IS {self.pick.choice(['', 'NOT '])}NULL"
        if shape == 6:
            low, value, high = (self.number(depth - 1) for _ in range(3))
            return f"({value}) {self.pick.choice(['', 'NOT '])}BETWEEN {low} AND {high}"
        if shape == 7:
            return self.pick.choice(["s IN ('a', 'é')", "i NOT IN (0, 2)", "x IN (0.1, 2, y)", "n IN (5, 1e3)"])
        return f"({self.truth(depth - 1)}) {self.pick.choice(['AND', 'OR'])} ({self.truth(depth - 1)})"


def some_rows(count: int) -> pa.Table:
    pick = random.Random(0)
    rows = [{name: pick.choice(values) for name, values in COLUMNS.items()} for _ in range(count)]
    return pa.Table.from_pylist(rows, SCHEMA)


def evaluated(sql: str, table: pa.Table) -> tuple[str, list[Any]] | None:
    """Spark's name of the type, and the values; None where Arrow would not give Spark's, or a row overflows."""
    try:
        value = evaluate(sql, {name: table[name] for name in table.column_names})
    except (NotExact, pa.ArrowInvalid):
        return None
    values = [value.as_py()] * table.num_rows if isinstance(value, pa.Scalar) else value.to_pylist()
    return spark_type(value.type), values


def spark_values(spark: SparkSession, table: pa.Table, sqls: list[str]) -> dict[str, tuple[str, list[Any]]]:
    """All expressions in one job."""
    frame = spark.createDataFrame(table).selectExpr(*(f"{sql} AS e{n}" for n, sql in enumerate(sqls)))
    rows = frame.collect()
    return {
        sql: (field.dataType.simpleString(), [row[n] for row in rows])
        for n, (sql, field) in enumerate(zip(sqls, frame.schema, strict=True))
    }


def plain(value: Any) -> Any:
    return ticks(value) if isinstance(value, datetime) else value


def test_random_expressions(spark: SparkSession) -> None:
    table, writer = some_rows(80), Writer(5)
    written = [expression(write(2)) for _ in range(130) for write in (writer.number, writer.truth)]
    ours = {sql: found for sql in dict.fromkeys(written) if (found := evaluated(sql, table)) is not None}
    assert len(ours) > 60
    theirs = spark_values(spark, table, list(ours))
    for sql, (kind, values) in ours.items():
        assert kind == theirs[sql][0], sql
        assert all(map(same, values, theirs[sql][1])), sql


def test_the_oracle_means_what_spark_means(spark: SparkSession) -> None:
    rows = [odd_row(number, number) for number in range(150)]
    meanings = {expression(sql): meaning for sql, meaning in {**EVERYTHING, **PREDICATES}.items()}
    theirs = spark_values(spark, table_of(rows), list(meanings))
    for sql, meaning in meanings.items():
        found = evaluated(sql, table_of(rows))
        assert found is not None, sql
        assert found[0] == theirs[sql][0], sql
        for row, ours, spark_value in zip(rows, found[1], theirs[sql][1], strict=True):
            assert same(plain(ours), plain(spark_value)), sql
            assert same(meaning(row), plain(spark_value)), sql


@pytest.mark.parametrize(
    "sql",
    [
        "sin(x) > 0",
        "1 + cos(x)",
        "cast(x AS STRING)",
        "s > 5",
        "s LIKE t",
        "floor(x, 1)",
        "1 / 0",
        "q",
        "NULL",
    ],
)
def test_left_to_spark(sql: str) -> None:
    assert evaluated(expression(sql), some_rows(3)) is None


def columns(**values: list[int | None]) -> dict[str, pa.ChunkedArray]:
    return {name: pa.chunked_array([pa.array(held, pa.int64())]) for name, held in values.items()}


@pytest.mark.parametrize("sql", ["n - 1", "n * n", "-n", "abs(n)"])
def test_an_overflow_is_refused(sql: str) -> None:
    with pytest.raises(pa.ArrowInvalid, match="overflow"):
        evaluate(sql, columns(n=[1, -(1 << 63)]))


def test_the_right_side_counts_only_where_the_left_leaves_it_open() -> None:
    held = columns(n=[3, 1 << 62, None])
    assert evaluate("n < 100 AND n * n > 5", held).to_pylist() == [True, False, None]
    assert evaluate("n > 100 OR n * n > 5", held).to_pylist() == [True, True, None]


def test_some_rows_only() -> None:
    value = evaluate_some("n * n", columns(n=[3, 1 << 62, 4]), pa.array([True, False, True]).to_numpy(False))
    assert value.to_pylist() == [9, None, 16]
