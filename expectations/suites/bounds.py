"""Smallest, mean and largest of the same events, from different queries: in that order."""

from __future__ import annotations

from typing import Any

import pandas as pd

from expectations.sides.row import Sides, window_text
from expectations.suites.suite import RTOL, ExpectColumnPairValuesToBeInOrder, Suite

BOUNDS = ("min", "avg", "max")
PLACE = ("about", "key", "start", "end", "rows")


def join_bounds(sides: Sides) -> pd.DataFrame:
    """Return smallest, mean and largest of the same events side by side, from different queries."""
    bounds = sides.ours[sides.ours["aggregate"].isin(BOUNDS)]
    places: dict[tuple[Any, ...], dict[str, tuple[str, float | None]]] = {}
    for row in bounds.to_dict("records"):
        value = row["number"] if row["text"] is None else _number(row["text"])
        places.setdefault(tuple(row[name] for name in PLACE), {})[row["aggregate"]] = (row["query"], value)
    lines = [_line(place, values) for place, values in places.items() if len(values) > 1]
    return pd.DataFrame(lines, columns=["query", "key", "window", "ours", *BOUNDS], dtype=object)


def _line(place: tuple[Any, ...], values: dict[str, tuple[str, float | None]]) -> dict[str, Any]:
    _, key, start, end, rows = place
    numbers = {name: values[name][1] if name in values else None for name in BOUNDS}
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


SUITE = Suite(
    join_bounds,
    ("query", "key", "window", "ours"),
    {
        f"{low} at most {high}": ExpectColumnPairValuesToBeInOrder(
            column_A=low, column_B=high, rtol=rtol, description=f"{low} must be at most {high} of the same events"
        )
        for low, high, rtol in (("min", "avg", RTOL), ("avg", "max", RTOL), ("min", "max", 0.0))
    },
)
