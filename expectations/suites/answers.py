"""The engine's answers alone: every row once and in a window that there is, counts that can be, bounds in order."""

from __future__ import annotations

from typing import Any

import great_expectations.expectations as gxe
import pandas as pd

from expectations.sides.row import Sides, window_text
from expectations.suites.suite import RTOL, ExpectColumnPairValuesToBeInOrder, Suite, readable

SIZES = ("min", "avg", "max")
PLACE = ("about", "key", "start", "end", "rows")


def select_answers(sides: Sides) -> pd.DataFrame:
    """Return the engine's answers alone."""
    return pd.concat([readable(sides.ours), sides.ours[["start", "past_edge"]]], axis=1)


ANSWERS = Suite(
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


def select_counts(sides: Sides) -> pd.DataFrame:
    """Return the engine's answers that are counts."""
    counts = sides.ours[sides.ours["aggregate"] == "count"]
    numbers = [None if text is None else int(text) for text in counts["text"]]
    return readable(counts).assign(count=pd.Series(numbers, counts.index, dtype=object))


COUNTS = Suite(
    select_counts,
    ("query", "key", "window", "ours"),
    {
        "no count is null": gxe.ExpectColumnValuesToNotBeNull(column="count", description="a count must be there"),
        "no count below 0": gxe.ExpectColumnValuesToBeBetween(
            column="count", min_value=0, description="a count must be 0 or more"
        ),
    },
)


def join_bounds(sides: Sides) -> pd.DataFrame:
    """Return smallest, mean and largest of the same events side by side, from different queries."""
    bounds = sides.ours[sides.ours["aggregate"].isin(SIZES)]
    places: dict[tuple[Any, ...], dict[str, tuple[str, float | None]]] = {}
    for row in bounds.to_dict("records"):
        value = row["number"] if row["text"] is None else _number(row["text"])
        places.setdefault(tuple(row[name] for name in PLACE), {})[row["aggregate"]] = (row["query"], value)
    lines = [_line(place, values) for place, values in places.items() if len(values) > 1]
    return pd.DataFrame(lines, columns=["query", "key", "window", "ours", *SIZES], dtype=object)


def _line(place: tuple[Any, ...], values: dict[str, tuple[str, float | None]]) -> dict[str, Any]:
    _, key, start, end, rows = place
    numbers = {name: values[name][1] if name in values else None for name in SIZES}
    return {
        "query": ", ".join(sorted(query for query, _ in values.values())),
        "key": key,
        "window": window_text(start, end, rows),
        "ours": " <= ".join(str(number) for number in numbers.values() if number is not None),
        **numbers,
    }


def _number(text: str) -> float | None:
    """Return the number that a text is; the smallest of texts is none."""
    try:
        return float(text)
    except ValueError:
        return None


BOUNDS = Suite(
    join_bounds,
    ("query", "key", "window", "ours"),
    {
        f"{low} at most {high}": ExpectColumnPairValuesToBeInOrder(
            column_A=low, column_B=high, rtol=rtol, description=f"{low} must be at most {high} of the same events"
        )
        for low, high, rtol in (("min", "avg", RTOL), ("avg", "max", RTOL), ("min", "max", 0.0))
    },
)
