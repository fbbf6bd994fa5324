"""The shape both sides of an audit have: one row per query, key and window, whatever the type of the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

from optimizer.catalog.model.query import Query

SCHEMA = (
    "query string, aggregate string, about string, key string, start bigint, end bigint, past_edge bigint, "
    "rows boolean, text string, number double"
)
OPEN = "open"  # answers among which Spark chooses freely, because several events tie
SCALE = "scale"  # how large the numbers were that an answer was rounded from
NAIVE_SCHEMA = f"{SCHEMA}, {OPEN} array<string>, {SCALE} double"
COLUMNS = tuple(part.split()[0] for part in SCHEMA.split(", "))


def key_text(columns: Mapping[str, Column]) -> Column:
    """Return the key as text that no two keys share; nulls are keys like any other."""
    if not columns:
        return F.lit("{}")
    texts = [column.cast("string").alias(name) for name, column in columns.items()]
    return F.to_json(F.struct(*texts), {"ignoreNullFields": "false"})


def text_of(column: Column, floating: bool) -> Column:
    """Return an answer as text; -0.0 equals 0.0, and every other difference shows."""
    return (column.cast("double") + F.lit(0.0)).cast("string") if floating else column.cast("string")


def about(query: Query) -> str:
    """Return what a query looks at: the answers of min, avg and max over the same events bound one another."""
    return repr((query.group_by, query.where, query.arguments, query.window.rows))


def past_edge(start: Column, slide: Column, offset: Column) -> Column:
    """Return how far behind an edge of its slide a window starts: 0 in every correct window."""
    return F.pmod(start - offset, slide)


def shown(text: Column, number: Column) -> Column:
    """Return the answer as a person reads it."""
    return F.coalesce(text, number.cast("string"), F.lit("NULL"))


def window_text(start: Column, end: Column, rows: Column) -> Column:
    """Return the window as a person reads it, in UTC or in rows."""
    first, last = (
        F.when(rows, edge.cast("string")).otherwise(F.timestamp_micros(edge).cast("string")) for edge in (start, end)
    )
    return F.concat(F.when(rows, "rows ").otherwise(""), first, F.lit(" to "), last)


def first_of(columns: Sequence[Column], kind: str) -> Column:
    """Return the first column that is not null."""
    return F.coalesce(*columns) if columns else F.lit(None).cast(kind)


class Sides(NamedTuple):
    """The engine's answers and Spark's, in the same windows."""

    ours: DataFrame
    naive: DataFrame
