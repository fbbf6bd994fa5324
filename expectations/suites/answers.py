"""The engine's answers alone: every row once, and in a window that there is."""

from __future__ import annotations

import pandas as pd
from great_expectations.expectations.core.expect_column_values_to_be_in_set import ExpectColumnValuesToBeInSet
from great_expectations.expectations.core.expect_column_values_to_not_be_null import ExpectColumnValuesToNotBeNull
from great_expectations.expectations.core.expect_compound_columns_to_be_unique import ExpectCompoundColumnsToBeUnique

from expectations.sides.row import Sides
from expectations.suites.suite import Suite, readable


def select_answers(sides: Sides) -> pd.DataFrame:
    """Return the engine's answers alone."""
    return pd.concat([readable(sides.ours), sides.ours[["start", "past_edge"]]], axis=1)


SUITE = Suite(
    select_answers,
    ("query", "key", "window", "ours"),
    {
        "one row per query, key and window": ExpectCompoundColumnsToBeUnique(column_list=["query", "key", "start"]),
        "windows aligned to their slide": ExpectColumnValuesToBeInSet(column="past_edge", value_set=[0]),
        "every row has its window": ExpectColumnValuesToNotBeNull(column="start"),
    },
)
