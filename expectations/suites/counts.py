"""The engine's counts: none is null or negative."""

from __future__ import annotations

import pandas as pd
from great_expectations.expectations.core.expect_column_values_to_be_between import ExpectColumnValuesToBeBetween
from great_expectations.expectations.core.expect_column_values_to_not_be_null import ExpectColumnValuesToNotBeNull

from expectations.sides.row import Sides
from expectations.suites.suite import Suite, readable


def select_counts(sides: Sides) -> pd.DataFrame:
    """Return the engine's answers that are counts."""
    counts = sides.ours[sides.ours["aggregate"] == "count"]
    numbers = [None if text is None else int(text) for text in counts["text"]]
    return readable(counts).assign(count=pd.Series(numbers, counts.index, dtype=object))


SUITE = Suite(
    select_counts,
    ("query", "key", "window", "ours"),
    {
        "no count is null": ExpectColumnValuesToNotBeNull(column="count"),
        "no count below 0": ExpectColumnValuesToBeBetween(column="count", min_value=0),
    },
)
