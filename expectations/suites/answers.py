"""The engine's answers alone: every row once, and in a window that there is."""

from __future__ import annotations

from great_expectations.expectations.core.expect_column_values_to_be_in_set import ExpectColumnValuesToBeInSet
from great_expectations.expectations.core.expect_column_values_to_not_be_null import ExpectColumnValuesToNotBeNull
from great_expectations.expectations.core.expect_compound_columns_to_be_unique import ExpectCompoundColumnsToBeUnique
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from expectations.sides.row import Sides, shown, window_text
from expectations.suites.suite import Suite


def select_answers(sides: Sides) -> DataFrame:
    """Return the engine's answers alone."""
    return sides.ours.select(
        "query",
        "key",
        "start",
        "past_edge",
        window_text(F.col("start"), F.col("end"), F.col("rows")).alias("window"),
        shown(F.col("text"), F.col("number")).alias("ours"),
    )


SUITE = Suite(
    select_answers,
    ("query", "key", "window", "ours"),
    {
        "one row per query, key and window": ExpectCompoundColumnsToBeUnique(column_list=["query", "key", "start"]),
        "windows aligned to their slide": ExpectColumnValuesToBeInSet(column="past_edge", value_set=[0]),
        "every row has its window": ExpectColumnValuesToNotBeNull(column="start"),
    },
)
