"""Both scripts run by plain Spark, and whole row sets compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from optimizer.catalog.model.catalog import Catalog, script_sql
from optimizer.plan.definition import Plan
from optimizer.rewrite import Script, answer_types, rewrite

TOLERANCE = 1e-9


def run(spark: SparkSession, script: Script) -> dict[str, DataFrame]:
    """Every statement as it stands; the answers by id."""
    for sql in script.views:
        spark.sql(sql)
    return {name: spark.sql(sql) for name, sql in script.answers.items()}


def assert_same_answers(spark: SparkSession, catalog: Catalog, plan: Plan) -> Script:
    """The rewritten statements give the rows, names and types of the originals."""
    # Views of another script that are cached under the same names would be analysed again when these replace them.
    spark.catalog.clearCache()
    spark = spark.newSession()
    script = rewrite(catalog, plan, answer_types(catalog, plan.stream))
    for name, found in run(spark, script).items():
        statement = catalog.statements[name]
        queries = {query.id: query for query in catalog.queries if query.statement == name}
        expected = spark.sql(script_sql(queries, statement.columns, catalog.streams[plan.stream].time))
        assert found.dtypes == expected.dtypes, name
        keys = {column.name for column in statement.columns if column.kind != "answer"}
        assert_same_rows(rows_by_place(found, keys), rows_by_place(expected, keys), name)
    return script


def assert_same_rows(found: Mapping[Any, Any], expected: Mapping[Any, Any], name: str) -> None:
    """The same places, and at each the same values; floats within the tolerance."""
    assert found.keys() == expected.keys(), name
    for place, values in expected.items():
        assert all(map(_same, found[place], values)), (name, place, found[place], values)


def rows_by_place(frame: DataFrame, keys: set[str]) -> dict[Any, list[Any]]:
    """Rows by their keys and window; NaN is made a text, since it does not equal itself."""
    rows = frame.collect()
    names = frame.columns
    placed = {}
    for row in rows:
        place = tuple(repr(value) for name, value in zip(names, row, strict=True) if name in keys)
        placed[place] = [value for name, value in zip(names, row, strict=True) if name not in keys]
    assert len(placed) == len(rows)
    return placed


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) and math.isnan(right)
        return math.isclose(left, right, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(left == right)
