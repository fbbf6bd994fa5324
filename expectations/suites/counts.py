"""The engine's counts: none is null or negative."""

from __future__ import annotations

from great_expectations.expectations.core.expect_column_values_to_be_between import ExpectColumnValuesToBeBetween
from great_expectations.expectations.core.expect_column_values_to_not_be_null import ExpectColumnValuesToNotBeNull
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from expectations.sides.row import Sides, shown, window_text
from expectations.suites.suite import Suite


def select_counts(sides: Sides) -> DataFrame:
    """Return the engine's answers that are counts."""
    return sides.ours.where(F.col("aggregate") == "count").select(
        "query",
        "key",
        window_text(F.col("start"), F.col("end"), F.col("rows")).alias("window"),
        shown(F.col("text"), F.col("number")).alias("ours"),
        F.col("text").cast("bigint").alias("count"),
    )


SUITE = Suite(
    select_counts,
    ("query", "key", "window", "ours"),
    {
        "no count is null": ExpectColumnValuesToNotBeNull(column="count"),
        "no count below 0": ExpectColumnValuesToBeBetween(column="count", min_value=0),
    },
)
