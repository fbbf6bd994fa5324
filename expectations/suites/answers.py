"""What is expected of the answers: that they equal plain Spark's, and what holds of the engine's alone.

Alone: every row is there once and in a window that there is, counts can be, smallest, mean and largest are in order.
"""

from __future__ import annotations

import math
from typing import Any

import great_expectations.expectations as gxe
import pandas as pd

from expectations.sides.row import OPEN, SCALE, Sides, answer_text, window_text
from expectations.suites.suite import (
    RTOL,
    ExpectColumnPairValuesToAgree,
    ExpectColumnPairValuesToBeInOrder,
    Suite,
    readable,
)

ROUNDING = 1e-13  # of the numbers that were added up
BOTH, OURS, SPARKS = "both", "Heddle only", "Spark only"
COLUMNS = ("query", "key", "window", "side", "ours", "spark", "our_text", "spark_text", "our_number", "spark_number")
Row = dict[str, Any]
SIZES = ("min", "avg", "max")
PLACE = ("about", "key", "start", "end", "rows")


def pair_answers(sides: Sides) -> pd.DataFrame:
    """Return both answers side by side, also where a key or a window is null.

    Where Spark is free to choose, its answer is replaced by the engine's: which of the events that tie, and the last
    digits of a sum, which depend on the order of addition.
    """
    by_place: dict[tuple[Any, ...], list[Row | None]] = {}
    for row in _records(sides.naive):
        by_place.setdefault(_place(row), []).append(row)
    lines, paired = [], set()
    for row in _records(sides.ours):
        paired.add(_place(row))
        lines += [_pair_line(row, sparks) for sparks in by_place.get(_place(row), [None])]
    lines += [_pair_line(None, row) for place, rows in by_place.items() if place not in paired for row in rows]
    return pd.DataFrame(lines, columns=list(COLUMNS), dtype=object)


def _records(rows: pd.DataFrame) -> list[Row]:
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def _place(row: Row) -> tuple[Any, ...]:
    return row["query"], row["key"], row["start"]


def _pair_line(ours: Row | None, sparks: Row | None) -> Row:
    place = ours or sparks or {}
    line = {"query": place["query"], "key": place["key"]}
    line["window"] = window_text(place["start"], place["end"], place["rows"])
    line["side"] = BOTH if ours and sparks else OURS if ours else SPARKS
    line["ours"] = answer_text(ours["text"], ours["number"]) if ours else "no row"
    line["spark"] = answer_text(sparks["text"], sparks["number"]) if sparks else "no row"
    if ours and sparks:
        text = ours["text"] if ours["text"] in (sparks[OPEN] or ()) else sparks["text"]
        number = ours["number"] if _is_rounding(ours["number"], sparks) else sparks["number"]
        line |= {"spark": answer_text(text, number), "our_text": ours["text"], "spark_text": text}
        line |= {"our_number": ours["number"], "spark_number": number}
    return line


def _is_rounding(number: float | None, sparks: Row) -> bool:
    theirs, scale = sparks["number"], sparks[SCALE]
    if number is None or theirs is None or scale is None or not math.isfinite(scale):
        return False
    return bool(abs(number - theirs) <= ROUNDING * scale)


COMPARISON = Suite(
    pair_answers,
    ("query", "key", "window", "ours", "spark"),
    {
        "same rows on both sides": gxe.ExpectColumnValuesToBeInSet(
            column="side", value_set=[BOTH], description="a row must be there on both sides"
        ),
        "exact answers equal": ExpectColumnPairValuesToAgree(
            column_A="our_text",
            column_B="spark_text",
            description="the answer must equal Spark's, a missing value only a missing one",
        ),
        "float answers close": ExpectColumnPairValuesToAgree(
            column_A="our_number",
            column_B="spark_number",
            rtol=RTOL,
            description=f"the number must equal Spark's within {RTOL} of it, NaN only NaN",
        ),
    },
)


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
    lines = [_bounds_line(place, values) for place, values in places.items() if len(values) > 1]
    return pd.DataFrame(lines, columns=["query", "key", "window", "ours", *SIZES], dtype=object)


def _bounds_line(place: tuple[Any, ...], values: dict[str, tuple[str, float | None]]) -> dict[str, Any]:
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
