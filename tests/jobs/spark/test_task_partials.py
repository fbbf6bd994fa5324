"""What tasks have aggregated before Spark's shuffle: the same when it is brought together, and when it is not taken."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

from jobs.spark.task_partials import ADAPTIVE, before_shuffle

PARTS, ROWS, GROUPS = 4, 1_000, 7


def numbers(spark: SparkSession) -> DataFrame:
    """Rows of several tasks, with the same keys in all of them; some keys and values are null."""
    by = f"nullif(id % {GROUPS}, 3)"
    return spark.range(0, ROWS, 1, PARTS).selectExpr(f"{by} AS k", "nullif(id, 10) AS n", "id / 8D AS x", "'a' AS t")


def test_groups_of_every_task_come_to_the_same(spark: SparkSession) -> None:
    aggregates = {"least": "min(n)", "many": "count(n)", "total": "sum(x)", "before": "count_if(n < 50)"}
    adaptive = spark.conf.get(ADAPTIVE)
    grouped = numbers(spark).groupBy("k").agg(*(F.expr(sql).alias(name) for name, sql in aggregates.items()))
    parts = before_shuffle(grouped)
    assert (parts.columns, spark.conf.get(ADAPTIVE)) == (grouped.columns, adaptive)
    assert parts.count() == PARTS * GROUPS
    merged = parts.groupBy("k").agg(F.min("least"), F.sum("many"), F.sum("total"), F.sum("before"))
    assert sorted(map(str, merged.collect())) == sorted(map(str, grouped.toDF(*merged.columns).collect()))


@pytest.mark.parametrize("sql", ["avg(n)", "max(t)", "var_pop(x)", "max_by(t, n)"])
def test_aggregates_that_are_more_than_their_value_are_left_as_they_are(spark: SparkSession, sql: str) -> None:
    grouped = numbers(spark).groupBy("k").agg(F.expr(sql), F.expr("min(x)"))
    assert before_shuffle(grouped) is grouped


def test_what_is_computed_once_for_two_columns_is_left_as_it_is(spark: SparkSession) -> None:
    grouped = numbers(spark).groupBy("k").agg(F.expr("sum(n + 1)").alias("one"), F.expr("sum(1 + n)").alias("two"))
    assert before_shuffle(grouped) is grouped


def test_rows_of_one_task_need_no_shuffle(spark: SparkSession) -> None:
    """There is another shuffle below, and no half above it."""
    grouped = numbers(spark).repartition(3, "n").coalesce(1).groupBy("k").agg(F.expr("max(x)"))
    assert before_shuffle(grouped) is grouped


def test_rows_of_a_join(spark: SparkSession) -> None:
    names = spark.createDataFrame([(number, f"m{number}") for number in range(GROUPS)], "k bigint, name string")
    grouped = numbers(spark).join(F.broadcast(names), "k").groupBy("name").agg(F.expr("max(x) AS most"))
    parts = before_shuffle(grouped)
    assert parts.count() > grouped.count()
    assert parts.groupBy("name").agg(F.expr("max(most) AS most")).exceptAll(grouped).isEmpty()
