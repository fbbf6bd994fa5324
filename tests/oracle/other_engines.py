"""DuckDB and polars as further oracles, so that Spark and Heddle are not wrong together.

Both are asked only what they mean as Spark does. Every event is copied into each of its windows, which are then plain
groups: nothing of Heddle's takes part, neither its edges nor its slices. What differs is left out, by name: floats of
polars, whose minimum and maximum skip NaN, and windows of floats that hold an infinity or NaN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa

from tests.jobs.engine.questions import Question
from tests.oracle.naive_aggregates import same
from tests.worlds.streams import SCHEMA, Row

Place = tuple[tuple[Any, ...], int]  # the key, the start of the window
NUMBERS = {"x", "y", "n", "i", "m"}
FLOATS = {"x", "y"}
BOOLEANS, BITS = {"b"}, {"n", "i"}
PLAIN = {*NUMBERS, "d", "b", "s", "k"}
DUCKDB = {  # aggregate -> what it may be of, where DuckDB means what Spark means
    **dict.fromkeys(("count", "count_distinct", "min", "max"), PLAIN),
    **dict.fromkeys(("sum", "avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp"), NUMBERS),
    **dict.fromkeys(("bool_and", "bool_or"), BOOLEANS),
    **dict.fromkeys(("bit_and", "bit_or", "bit_xor"), BITS),
    "median": NUMBERS - FLOATS,
}
POLARS = {
    **dict.fromkeys(("count", "min", "max"), PLAIN - FLOATS - {"b"}),
    **dict.fromkeys(("sum", "avg"), NUMBERS - FLOATS),
    "median": NUMBERS - FLOATS,
}
COLUMNS = pa.schema([field if field.name != "ts" else pa.field("ts", pa.int64()) for field in SCHEMA])


def may_ask(question: Question, means: Mapping[str, set[str]]) -> bool:
    """Whether an engine means by a question what Spark means."""
    if question.window.rows or question.aggregate not in means:
        return False
    return question.x in means[question.aggregate] or (question.aggregate == "count" and question.x == "*")


def ask_duckdb(question: Question, events: Sequence[Row], until: int) -> dict[Place, Any]:
    """Return DuckDB's answers for the windows that have ended."""
    window = question.window
    call = replace(question, aggregate="count", x=f"DISTINCT {question.x}") if _is_distinct(question) else question
    keys = "".join(f"{name}, " for name in question.group_by)
    sql = f"""
        WITH timed AS (SELECT * FROM rows WHERE ts IS NOT NULL {f"AND ({question.where})" if question.where else ""}),
        last AS (SELECT *, ts - ((ts - {window.offset}) % {window.slide} + {window.slide}) % {window.slide} AS newest
                 FROM timed),
        placed AS (SELECT *, unnest(range(newest, ts - {window.range}, -{window.slide})) AS begins FROM last)
        SELECT {keys} begins, {call.call} FROM placed WHERE begins + {window.range} <= {until} GROUP BY {keys} begins
    """
    with duckdb.connect() as connection:
        connection.register("rows", _table(events))
        rows = connection.execute(sql).fetchall()
    return {(tuple(row[:-2]), row[-2]): row[-1] for row in rows}


def ask_polars(question: Question, events: Sequence[Row], until: int) -> dict[Place, Any]:
    """Return polars' answers for the windows that have ended."""
    window, ts = question.window, pl.col("ts")
    frame = pl.DataFrame(pl.from_arrow(_table(events))).filter(ts.is_not_null())
    if question.where:
        frame = frame.filter(pl.sql_expr(question.where))
    newest = ts - (ts - window.offset).mod(window.slide)
    begins = pl.int_ranges(newest, ts - window.range, -window.slide)
    placed = frame.with_columns(begins=begins).explode("begins").filter(pl.col("begins") + window.range <= until)
    folded = placed.group_by([*question.group_by, "begins"]).agg(answer=_polars_fold(question))
    return {(tuple(row[:-2]), row[-2]): row[-1] for row in folded.iter_rows()}


def _polars_fold(question: Question) -> pl.Expr:
    only = pl.sql_expr(question.only) if question.only else pl.lit(True)
    if question.x == "*":
        return pl.col("ts").filter(only).len()
    column = pl.col(question.x).filter(only)
    folds = {
        "count": column.count(),
        "min": column.min(),
        "max": column.max(),
        "sum": pl.when(column.count() > 0).then(column.cast(pl.Int64).sum()),
        "avg": column.mean(),
        "median": column.median(),
    }
    return folds[question.aggregate]


def _is_distinct(question: Question) -> bool:
    return question.aggregate == "count_distinct"


def _table(events: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist(list(events), COLUMNS)


def check_answers(
    question: Question, ours: Mapping[Place, Any], theirs: Mapping[Place, Any], rows: Sequence[Row]
) -> int:
    """Hold our answers against another engine's; return how many were compared."""
    assert ours.keys() == theirs.keys(), (question, ours.keys() ^ theirs.keys())
    compared = 0
    for place, held in question.held(rows).items():
        if place not in ours or _has_infinity(question, held):
            continue
        tolerance = question.rounding(held) if question.x in NUMBERS else 0.0
        theirs_here = theirs[place]
        assert same(_plain(ours[place]), _plain(theirs_here), tolerance), (question, place, ours[place], theirs_here)
        compared += 1
    return compared


def _has_infinity(question: Question, held: Sequence[Row]) -> bool:
    return question.x in FLOATS and any(
        row[question.x] is not None and not math.isfinite(row[question.x]) for row in held
    )


def _plain(value: Any) -> Any:
    # DuckDB's sums are whole numbers of 128 bits or floats where ours are of 64
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
