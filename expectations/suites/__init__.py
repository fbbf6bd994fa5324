"""The suites: what is expected of every table of an audit.

- column_pairs: Expectations of column pairs, as Spark orders numbers: null equals null.
- frames: The tables that the suites look at, made from both sides of an audit.
- validate: Runs the suites over the tables of an audit, quietly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from great_expectations.expectations.core.expect_column_values_to_be_between import ExpectColumnValuesToBeBetween
from great_expectations.expectations.core.expect_column_values_to_be_in_set import ExpectColumnValuesToBeInSet
from great_expectations.expectations.core.expect_column_values_to_not_be_null import ExpectColumnValuesToNotBeNull
from great_expectations.expectations.core.expect_compound_columns_to_be_unique import ExpectCompoundColumnsToBeUnique

from expectations.suites.column_pairs import ExpectColumnPairValuesToAgree, ExpectColumnPairValuesToBeInOrder
from expectations.suites.frames import BOTH

RTOL = 1e-9  # of sums of floats, which depend on the order of addition


@dataclass(frozen=True)
class Suite:
    """Expectations by name, of the table in FRAMES that has the suite's name; a failing row is shown as `shown`."""

    shown: tuple[str, ...]
    expectations: dict[str, Any]


SUITES: dict[str, Suite] = {
    "compared": Suite(
        ("query", "key", "window", "ours", "spark"),
        {
            "same rows on both sides": ExpectColumnValuesToBeInSet(column="side", value_set=[BOTH]),
            "exact answers equal": ExpectColumnPairValuesToAgree(column_A="our_text", column_B="spark_text"),
            "float answers close": ExpectColumnPairValuesToAgree(
                column_A="our_number", column_B="spark_number", rtol=RTOL
            ),
        },
    ),
    "answers": Suite(
        ("query", "key", "window", "ours"),
        {
            "one row per query, key and window": ExpectCompoundColumnsToBeUnique(column_list=["query", "key", "start"]),
            "windows aligned to their slide": ExpectColumnValuesToBeInSet(column="past_edge", value_set=[0]),
            "every row has its window": ExpectColumnValuesToNotBeNull(column="start"),
        },
    ),
    "counts": Suite(
        ("query", "key", "window", "ours"),
        {
            "no count is null": ExpectColumnValuesToNotBeNull(column="count"),
            "no count below 0": ExpectColumnValuesToBeBetween(column="count", min_value=0),
        },
    ),
    "bounds": Suite(
        ("query", "key", "window", "ours"),
        {
            "min at most avg": ExpectColumnPairValuesToBeInOrder(column_A="min", column_B="avg", rtol=RTOL),
            "avg at most max": ExpectColumnPairValuesToBeInOrder(column_A="avg", column_B="max", rtol=RTOL),
            "min at most max": ExpectColumnPairValuesToBeInOrder(column_A="min", column_B="max"),
        },
    ),
}
