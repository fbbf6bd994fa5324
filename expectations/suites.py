"""The suites: what is expected of every table of an audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from great_expectations.expectations import (
    ExpectColumnValuesToBeBetween,
    ExpectColumnValuesToBeInSet,
    ExpectColumnValuesToNotBeNull,
    ExpectCompoundColumnsToBeUnique,
)

from expectations.frames import BOTH
from expectations.pairs import ExpectColumnPairValuesToAgree, ExpectColumnPairValuesToBeInOrder

RTOL = 1e-9  # of sums of floats, which depend on the order of addition
ATOL = 1e-12
SLACK = {"rtol": RTOL, "atol": ATOL}


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
                column_A="our_number", column_B="spark_number", **SLACK
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
            "min at most avg": ExpectColumnPairValuesToBeInOrder(column_A="min", column_B="avg", **SLACK),
            "avg at most max": ExpectColumnPairValuesToBeInOrder(column_A="avg", column_B="max", **SLACK),
            "min at most max": ExpectColumnPairValuesToBeInOrder(column_A="min", column_B="max"),
        },
    ),
}
