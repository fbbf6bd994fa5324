"""Compares expressions with Spark's own answers: equal types and bits in every row, and refusals where it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from jobs.engine.events.expressions import CachedColumns, NotExact, compile_expression, evaluate
from jobs.engine.events.language.nodes import evaluate_node
from jobs.engine.events.language.vectors import from_arrow
from jobs.spark.session import in_zone
from optimizer.catalog.model.query import UTC
from optimizer.catalog.sql.expressions import expression

ROW = "__row"
NO_ROWS: list[int] = []


@dataclass
class Outcome:
    """What a comparison found: how many expressions were evaluated here, or left to Spark, and the differences."""

    evaluated: int = 0
    left_to_spark: list[str] = field(default_factory=list)
    refusals: int = 0  # expressions that were tried on a row that is refused here
    differences: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Case:
    """An expression, its values here, and the rows that are refused here."""

    sql: str
    values: pa.Array
    refused: list[int]

    def guarded(self) -> str:
        """Return the expression where it is not refused here, as Spark SQL."""
        if not self.refused:
            return self.sql
        return f"CASE WHEN {ROW} NOT IN ({', '.join(map(str, self.refused))}) THEN {self.sql} END"


def make_case(sql: str, table: pa.Table, zone: str) -> Case:
    """Evaluate an expression here; NotExact where it is left to Spark."""
    columns = CachedColumns({name: table[name] for name in table.column_names}, zone)
    values = evaluate(sql, columns, np.zeros(table.num_rows, np.bool_))
    if isinstance(values, pa.Scalar):
        return Case(sql, pa.repeat(values, table.num_rows), NO_ROWS)
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    node = compile_expression(sql, columns, zone)
    vector = evaluate_node(node, {name: from_arrow(column) for name, column in columns.items()})
    errors = np.zeros(1, np.bool_) if vector.errors is None else vector.errors
    return Case(sql, array, np.flatnonzero(np.broadcast_to(errors, table.num_rows)).tolist())


def compare(spark: SparkSession, table: pa.Table, texts: Sequence[str], refusals: int = 20, zone: str = UTC) -> Outcome:
    """Compare expressions with Spark's answers to one select; some of those that are refused here, row by row."""
    outcome, cases = Outcome(), []
    for text in dict.fromkeys(map(expression, texts)):
        try:
            cases.append(make_case(text, table, zone))
        except NotExact:
            outcome.left_to_spark.append(text)
    outcome.evaluated = len(cases)
    with TemporaryDirectory() as folder:  # from a file, times without a zone have none in Spark, too
        numbered = table.append_column(ROW, pa.array(range(table.num_rows), pa.int32()))
        pq.write_table(numbered, f"{folder}/rows.parquet")
        frame = in_zone(spark, zone).read.parquet(folder).coalesce(1).cache()
        _compare_all(frame, cases, outcome)
        refused = [case for case in cases if case.refused][:refusals]
        outcome.refusals = len(refused)
        unrefused = [case.sql for case in refused if not _is_refused(frame, case)]
        frame.unpersist()
    outcome.differences += [f"{sql}: Spark refuses no row" for sql in unrefused]
    return outcome


def _compare_all(frame: DataFrame, cases: Sequence[Case], outcome: Outcome) -> None:
    """Compare cases with one select; where Spark refuses it, halves of them, to find the case."""
    if not cases:
        return
    try:
        answers = frame.selectExpr(*(f"{case.guarded()} AS e{n}" for n, case in enumerate(cases))).toArrow()
    except Exception as error:  # whatever Spark says
        if len(cases) == 1:
            outcome.differences.append(f"{cases[0].sql}: Spark refuses it: {str(error).splitlines()[0][:200]}")
            return
        middle = len(cases) // 2
        _compare_all(frame, cases[:middle], outcome)
        _compare_all(frame, cases[middle:], outcome)
        return
    for number, case in enumerate(cases):
        outcome.differences += _differences(case, answers[f"e{number}"].combine_chunks())


def _is_refused(frame: DataFrame, case: Case) -> bool:
    row = case.refused[len(case.refused) // 2]
    try:
        frame.where(f"{ROW} = {row}").selectExpr(f"{case.sql} AS e").collect()
    except Exception:  # whatever Spark says
        return True
    return False


def _differences(case: Case, theirs: Any) -> list[str]:
    if pa.types.is_timestamp(theirs.type) and theirs.type.tz:
        theirs = theirs.cast(pa.timestamp("us", "UTC"))  # the same instants
    if theirs.type != case.values.type:
        return [f"{case.sql}: a {case.values.type} here, a {theirs.type} in Spark"]
    ours, answers = _bits(case.values), _bits(theirs)
    rows = [row for row, (here, there) in enumerate(zip(ours, answers, strict=True)) if here != there]
    if not rows:
        return []
    shown = [f"row {row}: {_show(case.values, row)} here, {_show(theirs, row)} in Spark" for row in rows[:2]]
    return [f"{case.sql}: {len(rows)} rows differ; {'; '.join(shown)}"]


def _show(array: pa.Array, row: int) -> str:
    is_time = pa.types.is_timestamp(array.type) or pa.types.is_date(array.type)
    return str(array[row].value) if is_time else repr(array[row].as_py())[:60]


def _bits(array: pa.Array) -> list[Any]:
    """Return values that are equal where their bits are; all NaN are one."""
    if pa.types.is_floating(array.type):
        return [
            None if value is None else (value != value and "nan") or (value, str(value)) for value in array.to_pylist()
        ]
    plain = array.cast(pa.int64()) if pa.types.is_timestamp(array.type) else array
    if pa.types.is_date(array.type):  # Python's own end in the year 9999
        plain = array.cast(pa.int32())
    return list(plain.to_pylist())
