"""The engine's counts: none is null or negative."""

from __future__ import annotations

import great_expectations.expectations as gxe
import pandas as pd

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
        "no count is null": gxe.ExpectColumnValuesToNotBeNull(column="count", description="a count must be there"),
        "no count below 0": gxe.ExpectColumnValuesToBeBetween(
            column="count", min_value=0, description="a count must be 0 or more"
        ),
    },
)
