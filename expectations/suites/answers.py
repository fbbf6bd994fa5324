"""The engine's answers alone: every row once, and in a window that there is."""

from __future__ import annotations

import great_expectations.expectations as gxe
import pandas as pd

from expectations.sides.row import Sides
from expectations.suites.suite import Suite, readable


def select_answers(sides: Sides) -> pd.DataFrame:
    """Return the engine's answers alone."""
    return pd.concat([readable(sides.ours), sides.ours[["start", "past_edge"]]], axis=1)


SUITE = Suite(
    select_answers,
    ("query", "key", "window", "ours"),
    {
        "one row per query, key and window": gxe.ExpectCompoundColumnsToBeUnique(
            column_list=["query", "key", "start"], description="query, key and start must be unique together"
        ),
        "windows aligned to their slide": gxe.ExpectColumnValuesToBeInSet(
            column="past_edge", value_set=[0], description="a window must start on a multiple of its slide"
        ),
        "every row has its window": gxe.ExpectColumnValuesToNotBeNull(
            column="start", description="a row must have the start of its window"
        ),
    },
)
