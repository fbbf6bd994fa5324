"""Smallest, mean and largest of the same events, from different queries: in that order."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from expectations.sides.row import Sides, window_text
from expectations.suites.column_pairs import ExpectColumnPairValuesToBeInOrder
from expectations.suites.suite import RTOL, Suite


def join_bounds(sides: Sides) -> DataFrame:
    """Return smallest, mean and largest of the same events side by side, from different queries."""
    value = F.coalesce("number", F.col("text").try_cast("double"))
    bounds = [F.max(F.when(F.col("aggregate") == name, value)).alias(name) for name in ("min", "avg", "max")]
    names = F.concat_ws(", ", F.sort_array(F.collect_set("query")))
    same_events = sides.ours.where(F.col("aggregate").isin("min", "avg", "max")).groupBy(
        "about", "key", "start", "end", "rows"
    )
    return same_events.agg(names.alias("query"), *bounds).select(
        "query",
        "key",
        window_text(F.col("start"), F.col("end"), F.col("rows")).alias("window"),
        F.concat_ws(
            " <= ", F.col("min").cast("string"), F.col("avg").cast("string"), F.col("max").cast("string")
        ).alias("ours"),
        "min",
        "avg",
        "max",
    )


SUITE = Suite(
    join_bounds,
    ("query", "key", "window", "ours"),
    {
        "min at most avg": ExpectColumnPairValuesToBeInOrder(column_A="min", column_B="avg", rtol=RTOL),
        "avg at most max": ExpectColumnPairValuesToBeInOrder(column_A="avg", column_B="max", rtol=RTOL),
        "min at most max": ExpectColumnPairValuesToBeInOrder(column_A="min", column_B="max"),
    },
)
